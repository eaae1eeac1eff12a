"""Writes a tiny language model with random weights, which a real inference server can load.

It has the form of Llama (2 layers, 64 wide), knows bytes, characters and a few words, and speaks nonsense: the same
nonsense for the same seed. It takes half a megabyte and a third of a second; needs numpy and gguf.

    python make_gguf.py OUT.gguf [SEED]
"""

import sys

import numpy as np
from gguf import GGUFWriter, TokenType

LAYERS, WIDTH, HEADS, INNER, CONTEXT = 2, 64, 4, 128, 4096
WORDS = "the a of to and is in it you that GRADE: C I P yes no one two three four five six answer"
TEMPLATE = "{% for m in messages %}{{ m.role }}: {{ m.content }}\n{% endfor %}assistant:"


def vocabulary():
    """Strings, scores and kinds of all tokens: three that steer, every byte, characters and words."""
    tokens = [("<unk>", 0.0, TokenType.UNKNOWN), ("<s>", 0.0, TokenType.CONTROL), ("</s>", 0.0, TokenType.CONTROL)]
    tokens += [(f"<0x{byte:02X}>", 0.0, TokenType.BYTE) for byte in range(256)]
    pieces = ["\u2581"] + [chr(code) for code in range(33, 127)] + ["\u2581" + word for word in WORDS.split()]
    tokens += [(piece, -1.0 - place, TokenType.NORMAL) for place, piece in enumerate(pieces)]
    return zip(*tokens)


def write(path, seed):
    """Writes the model."""
    texts, scores, kinds = vocabulary()
    writer = GGUFWriter(path, "llama")
    writer.add_name("tiny-random")
    writer.add_context_length(CONTEXT)
    writer.add_embedding_length(WIDTH)
    writer.add_block_count(LAYERS)
    writer.add_feed_forward_length(INNER)
    writer.add_head_count(HEADS)
    writer.add_head_count_kv(HEADS)
    writer.add_rope_dimension_count(WIDTH // HEADS)
    writer.add_layer_norm_rms_eps(1e-5)
    writer.add_vocab_size(len(texts))
    writer.add_file_type(0)  # All weights are float32.
    writer.add_tokenizer_model("llama")
    writer.add_tokenizer_pre("default")
    writer.add_token_list([text.encode() for text in texts])
    writer.add_token_scores(scores)
    writer.add_token_types(kinds)
    writer.add_unk_token_id(0)
    writer.add_bos_token_id(1)
    writer.add_eos_token_id(2)
    writer.add_add_bos_token(True)
    writer.add_add_eos_token(False)
    writer.add_chat_template(TEMPLATE)
    for name, weights in weights_of(len(texts), np.random.default_rng(seed)):
        writer.add_tensor(name, weights)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


def weights_of(words, random):
    """The name and the numbers of every tensor."""

    def matrix(rows, columns, scale=None):
        scale = scale or columns**-0.5
        return (random.standard_normal((rows, columns)) * scale).astype(np.float32)

    ones = np.ones(WIDTH, dtype=np.float32)
    yield "token_embd.weight", matrix(words, WIDTH, 1.0)
    yield "output_norm.weight", ones
    head = matrix(words, WIDTH)
    head[:2] = 0.0  # Unlikely, but possible.
    head[3:259] *= 0.05  # Bare bytes are rare, so that most of the text can be read.
    head[259:] *= 3.0
    yield "output.weight", head
    for layer in range(LAYERS):
        for part in ["attn_norm", "ffn_norm"]:
            yield f"blk.{layer}.{part}.weight", ones
        for part in ["attn_q", "attn_k", "attn_v", "attn_output"]:
            yield f"blk.{layer}.{part}.weight", matrix(WIDTH, WIDTH)
        for part in ["ffn_gate", "ffn_up"]:
            yield f"blk.{layer}.{part}.weight", matrix(INNER, WIDTH)
        yield f"blk.{layer}.ffn_down.weight", matrix(WIDTH, INNER)


if __name__ == "__main__":
    if len(sys.argv) not in (2, 3):
        sys.exit(__doc__)
    write(sys.argv[1], int(sys.argv[2]) if len(sys.argv) == 3 else 1)
