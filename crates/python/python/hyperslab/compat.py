"""stub"""
import sys
