"""Admission of the three kinds, the certificates it is served with, and the endpoint trainers post to."""
