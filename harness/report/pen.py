"""The drawing process: reads Vega-Lite as lines of JSON, and answers each with a line of JSON.

An answer has `svg`, or `fault` in words. `harness.report.drawing` starts it.
"""

import json
import sys


def main() -> None:
    """Draws until its input ends."""
    import vl_convert

    for line in sys.stdin:
        try:
            svg = vl_convert.vegalite_to_svg(json.loads(line), vl_version="6.4", allowed_base_urls=[])
            answer = {"svg": svg}
        except ValueError as error:
            answer = {"fault": " ".join(str(error).split())[:300]}
        print(json.dumps(answer), flush=True)


if __name__ == "__main__":
    main()
