"""Training data from Python: lists of Atoms for `dpmd train`, xarray data sets for `podlstm fit` and `meshfreeflow train`."""
from ._training_fields import write_fields
from ._training_frames import write_frames

__all__ = ["write_fields", "write_frames"]
