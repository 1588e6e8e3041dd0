"""Files config.json as published, without the fields that say nothing about shapes."""

import json
from pathlib import Path
from typing import Any

FILES: dict[str, dict[str, Any]] = json.loads(Path(__file__).with_suffix(".json").read_text("utf-8"))
# without their type, which may be missing
LLAMA3 = {key: value for key, value in FILES["Llama-3-8B"].items() if key != "model_type"}
GPT2 = {key: value for key, value in FILES["GPT-2"].items() if key != "model_type"}
