"""This package turns bytes of placement.thrift into messages and back."""
