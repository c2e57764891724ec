"""Denoisers: what estimates the noise in corrupted data, given its level and a condition."""

from dynascope.models.denoisers.conditional_mlp import ConditionalMLP
from dynascope.models.denoisers.picture_classifier import PictureClassifier
from dynascope.models.denoisers.schedule import NoiseLevels
from dynascope.models.denoisers.unet import UNet

__all__ = ["ConditionalMLP", "NoiseLevels", "PictureClassifier", "UNet"]
