"""The 2048 English words of BIP-39 (bitcoin/bips, bip-0039/english.txt, MIT), in their order."""

from minara_site.kernel.core.data_files import load_text

BIP39_ENGLISH = tuple(load_text(__package__, "bip39_english.txt").split())
