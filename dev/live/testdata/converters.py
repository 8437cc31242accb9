# Runs the schema converters of the official Python SDKs over a line of JSON for
# each schema: converters.py openai|anthropic|gemini|gemini-schema.
import copy, json, sys


def openai(schema):
    from openai.lib._pydantic import _ensure_strict_json_schema

    return _ensure_strict_json_schema(copy.deepcopy(schema), path=(), root=schema)


def anthropic(schema):
    from anthropic import transform_schema

    return transform_schema(schema)


def gemini(schema):
    from google.genai import types

    return types.FunctionDeclaration(name="f", parameters_json_schema=schema).model_dump(exclude_unset=True)["parameters_json_schema"]


def gemini_schema(schema):
    from google.genai import types

    return types.Schema.model_validate(schema).model_dump(mode="json", by_alias=True, exclude_unset=True)


convert = globals()[sys.argv[1].replace("-", "_")]
for line in sys.stdin:
    try:
        answer = {"schema": convert(json.loads(line))}
    except Exception as e:
        answer = {"error": f"{type(e).__name__}: {e}"[:400]}
    print(json.dumps(answer))
