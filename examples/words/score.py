"""Scores each answer by the share of the target's words that it has. Any language will do."""

import json
import sys

for line in sys.stdin:
    sample = json.loads(line)
    wanted = set(sample["target"].lower().split())
    found = wanted & set(sample["output"].lower().split())
    score = {"seq": sample["seq"], "answer": sample["output"]}
    if not wanted:
        score |= {"error": "the sample has no target"}
    elif not sample["output"].strip():
        score |= {"value": None, "reason": "no_response"}
    else:
        score |= {"value": len(found) / len(wanted), "explanation": f"has {sorted(found)}"}
    print(json.dumps(score), flush=True)
