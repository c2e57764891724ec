"""Topological order: is a combination of concepts never learned before its parts?"""
