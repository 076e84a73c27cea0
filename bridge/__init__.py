"""The daemon that answers the shim: it turns a request into placement problems and plans into slots."""
