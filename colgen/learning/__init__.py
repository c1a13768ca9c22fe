"""Learning with structure oracles: sparse means, marginals, losses and trainers."""

from colgen.learning.certified import certified_best
from colgen.learning.constrained import Constrained, constrained_best
from colgen.learning.constraints import Constraint, Parts, at_least, at_most, cannot_link, equal, must_link
from colgen.learning.derivations import Alignments, Constituents, Matchings, MonotoneChains, Segmentations, k_best
from colgen.learning.examples import Example, LinearExample
from colgen.learning.interpolation import Interpolated, interpolated
from colgen.learning.labelled import LabelledTrees
from colgen.learning.losses import (
    Loss,
    Violator,
    augmented,
    cone_aligned,
    fenchel_young,
    hinge,
    regret,
    second_best,
    spo_plus,
)
from colgen.learning.margin import cutting_planes, frank_wolfe
from colgen.learning.marginals import StructureMarginals, marginals
from colgen.learning.online import mira, perceptron, stochastic_gradient
from colgen.learning.oracles import (
    Chains,
    EnumeratedStructures,
    PricedStructures,
    ProjectiveTrees,
    Structure,
    StructureOracle,
    Trees,
    best_structure,
)
from colgen.learning.perturbing import Perturbed, perturbed
from colgen.learning.programs import GraphPaths, IntegerPrograms, Knapsacks, ProblemAnswers
from colgen.learning.sparsemap import SparseMean, sparsemap
from colgen.learning.tags import LegalTags, legal_transitions
from colgen.learning.training import Learner, SavedTraining, Trained, train
from colgen.learning.weights import AveragedWeights

__all__ = [
    "StructureOracle",
    "Structure",
    "best_structure",
    "k_best",
    "certified_best",
    "Chains",
    "Trees",
    "ProjectiveTrees",
    "LabelledTrees",
    "Segmentations",
    "Constituents",
    "Alignments",
    "Matchings",
    "MonotoneChains",
    "PricedStructures",
    "EnumeratedStructures",
    "GraphPaths",
    "Knapsacks",
    "IntegerPrograms",
    "ProblemAnswers",
    "Constrained",
    "constrained_best",
    "Constraint",
    "Parts",
    "at_least",
    "at_most",
    "equal",
    "must_link",
    "cannot_link",
    "LegalTags",
    "legal_transitions",
    "SparseMean",
    "sparsemap",
    "StructureMarginals",
    "marginals",
    "Perturbed",
    "perturbed",
    "Interpolated",
    "interpolated",
    "Loss",
    "Violator",
    "augmented",
    "hinge",
    "fenchel_young",
    "spo_plus",
    "cone_aligned",
    "regret",
    "second_best",
    "Example",
    "LinearExample",
    "Learner",
    "Trained",
    "SavedTraining",
    "AveragedWeights",
    "train",
    "perceptron",
    "mira",
    "stochastic_gradient",
    "cutting_planes",
    "frank_wolfe",
]
