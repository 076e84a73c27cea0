"""Bytes of placement.thrift to messages and back."""
