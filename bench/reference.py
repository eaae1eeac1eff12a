"""The reference, ready to be run beside errorbar."""
import sys

VERSION = "0.3.285"


def load():
    """Imports it in the version that is compared with, and able to run without a network."""
    import inspect_ai
    import inspect_ai.model._model
    import inspect_ai.model._tokens

    if inspect_ai.__version__ != VERSION:
        sys.exit(f"inspect_ai {inspect_ai.__version__} found, {VERSION} needed")

    def count(text):
        return len(text) // 4 + 1

    # The mock model would fetch a tokenizer from the network.
    inspect_ai.model._model.count_text_tokens = count
    inspect_ai.model._tokens.count_text_tokens = count
