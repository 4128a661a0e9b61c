# What nanobind's stubgen cannot know (see "make stubs"): the type of a constant, and names for types that annotations use.
sapwood\._core\.decode\.STATUS:
    STATUS: tuple[str, str, str, str]

sapwood\._core\.kernels\.__suffix__:
    NativeKernel = Subtree | Subset | Partial

sapwood\._core\.semantic\.__suffix__:
    WordKernel = Semantic | Smoothed

sapwood\._core\.explain\.__suffix__:
    Vocabulary = SubtreeVocabulary | FragmentVocabulary
    # The fragments, those of the other side, weights, counts, children left out on both sides, whether it is exact.
    Found = tuple[
        sapwood._core.trees.Arena,
        NDArray[numpy.uint32],
        NDArray[numpy.uint32],
        NDArray[numpy.float64],
        NDArray[numpy.float64],
        list[list[str]],
        list[list[str]],
        bool,
    ]
