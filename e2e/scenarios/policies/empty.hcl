# Nothing is granted: what a run has when its policy says no more than this.

version = 1
