"""sentbench from Python: score any encoder under the papers' protocols, and look up published numbers.

    import sentbench

    scores = sentbench.evaluate(model, "STSB,sts-part")    # anything with encode, or a function from texts
    print(sentbench.compare(model, other, "sts-part"))     # differences, with paired intervals
    sentbench.published("pcl/table2")                      # the paper's numbers
    sentbench.verify("una/table1", "BERT-base UNA", "Avg") # a verdict on one of them

It works in a checkout and in any other folder: tables, published numbers, evidence and recipes come with the
package, and data are downloaded to the user's cache folder. Importing it loads no heavy library.
"""

from harness.errors import InputError
from sentbench.comparison import Comparison, compare
from sentbench.encoders import Model, encode, evaluate, load, pairs
from sentbench.numbers import describe, evidence, published, results, verify

__version__ = "0.1.0"
__all__ = [
    "Comparison",
    "InputError",
    "Model",
    "__version__",
    "compare",
    "describe",
    "encode",
    "evaluate",
    "evidence",
    "load",
    "pairs",
    "published",
    "results",
    "verify",
]
