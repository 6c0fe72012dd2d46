package main

import (
	"fmt"
	"slices"
)

// series are the figures of one thing over the rounds.
type series []float64

func (s series) median() float64 {
	if len(s) == 0 {
		return 0
	}
	sorted := slices.Sorted(slices.Values(s))
	middle := len(sorted) / 2
	if len(sorted)%2 == 1 {
		return sorted[middle]
	}
	return (sorted[middle-1] + sorted[middle]) / 2
}

// quantile is the figure below which that part of the series lies.
func (s series) quantile(part float64) float64 {
	if len(s) == 0 {
		return 0
	}
	sorted := slices.Sorted(slices.Values(s))
	return sorted[min(int(part*float64(len(sorted))), len(sorted)-1)]
}

// over are the ratios to other, taken within each round; the rounds must match.
func (s series) over(other series) series {
	var ratios series
	for i := range min(len(s), len(other)) {
		if s[i] > 0 && other[i] > 0 {
			ratios = append(ratios, s[i]/other[i])
		}
	}
	return ratios
}

// spread is the median and, in brackets, the least and the greatest.
func (s series) spread(verb string) string {
	if len(s) == 0 {
		return "-"
	}
	if len(s) == 1 {
		return fmt.Sprintf(verb, s[0])
	}
	return fmt.Sprintf(verb+" ("+verb+" to "+verb+")", s.median(), slices.Min(s), slices.Max(s))
}
