"""Truncating one matrix of a real language model: does the answer win over the generic token?"""
