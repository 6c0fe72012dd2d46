package main

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// results are the figures of every peer and workload, one round after the other. All
// series have an element per round; 0 is a measurement that failed.
type results struct {
	rate, cpu map[string]series
	notes     map[string]int // what was wrong, and how often
	rounds    int
}

func key(peer, workload string) string { return peer + "/" + workload }

// workloads measures round by round: within one, all peers follow each other in each
// workload.
func workloads(ctx context.Context, w *world, p pace, peers []peer) (string, []bound, error) {
	r := results{rate: map[string]series{}, cpu: map[string]series{}, notes: map[string]int{}}
	todo := allWorkloads(p)
	var err error
	r.rounds, err = inRounds(p.rounds, p.budget, func() error {
		for _, l := range todo {
			for _, peer := range peers {
				if err := ctx.Err(); err != nil {
					return err
				}
				r.take(ctx, w, peer, l)
			}
		}
		return nil
	})
	if err != nil {
		return "", nil, err
	}
	return r.markdown(peers, todo, p), nil, nil
}

func (r *results) take(ctx context.Context, w *world, p peer, l workload) {
	if !p.does(l.kind) {
		return
	}
	f, err := w.measure(ctx, p, l)
	if err != nil {
		f.note = err.Error()
	}
	if f.note != "" {
		r.notes[fmt.Sprintf("%s, %s: %s", p.name, l.name, f.note)]++
	}
	k := key(p.name, l.name)
	r.rate[k], r.cpu[k] = append(r.rate[k], f.rate), append(r.cpu[k], f.cpu)
}

func (r *results) markdown(peers []peer, todo []workload, p pace) string {
	var b strings.Builder
	fmt.Fprintf(&b, "### Rate, times that of the minimal proxy\n\nMedian and, in brackets, least and greatest of %d rounds; higher is better. W3 moves %d MiB.\n\n", r.rounds, p.bulk>>20)
	r.table(&b, peers, todo, func(p peer, l workload) string {
		return r.rate[key(p.name, l.name)].over(r.rate[key(nameMinimal, l.name)]).spread("%.2f")
	})
	b.WriteString("\n### Processor time per request or byte, times that of the minimal proxy\n\nLower is better.\n\n")
	r.table(&b, peers, todo, func(p peer, l workload) string {
		return r.cpu[key(p.name, l.name)].over(r.cpu[key(nameMinimal, l.name)]).spread("%.2f")
	})
	b.WriteString("\n### Medians\n\nRequests per second; MiB per second for W3.\n\n")
	r.table(&b, peers, todo, func(p peer, l workload) string {
		rate := r.rate[key(p.name, l.name)].median()
		switch {
		case rate == 0:
			return "-"
		case l.kind == "W3":
			rate /= 1 << 20
		}
		return fmt.Sprintf("%.0f", rate)
	})
	if len(r.notes) > 0 {
		b.WriteString("\nNot as it should be:\n\n")
	}
	for _, note := range slices.Sorted(maps.Keys(r.notes)) {
		fmt.Fprintf(&b, "- %s (in %d rounds)\n", note, r.notes[note])
	}
	return b.String()
}

// table has a row for each peer and a column for each workload.
func (r *results) table(b *strings.Builder, peers []peer, todo []workload, cell func(peer, workload) string) {
	b.WriteString("| |")
	for _, l := range todo {
		fmt.Fprintf(b, " %s |", l.name)
	}
	b.WriteString("\n|---|" + strings.Repeat("---|", len(todo)) + "\n")
	for _, p := range peers {
		fmt.Fprintf(b, "| %s |", p.name)
		for _, l := range todo {
			fmt.Fprintf(b, " %s |", cell(p, l))
		}
		b.WriteString("\n")
	}
}
