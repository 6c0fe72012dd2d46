package report

import (
	"cmp"
	"slices"
	"strconv"
	"time"
)

// maxBuckets is how many bars a plot has at most in a row.
const maxBuckets = 120

// clock divides time into buckets. Their width doubles whenever there would be too many.
type clock struct {
	start time.Time
	width time.Duration
}

// admit makes room for t; histograms are halved when the width doubles.
func (c *clock) admit(t time.Time, each func(func(*histogram))) {
	if c.width == 0 {
		c.start, c.width = t.UTC().Truncate(time.Second), time.Second
	}
	for t.Sub(c.start) >= c.width*maxBuckets {
		c.width *= 2
		each((*histogram).halve)
	}
}

// bucket is the one of t. What is before the start, by a clock that was set back, is in
// the first.
func (c *clock) bucket(t time.Time) int {
	return max(0, int(t.Sub(c.start)/c.width))
}

// histogram is bytes by bucket.
type histogram []int64

func (h *histogram) add(bucket int, n int64) {
	for len(*h) <= bucket {
		*h = append(*h, 0)
	}
	(*h)[bucket] += n
}

func (h *histogram) halve() {
	half := (*h)[:0]
	for i := 0; i < len(*h); i += 2 {
		sum := (*h)[i]
		if i+1 < len(*h) {
			sum += (*h)[i+1]
		}
		half = append(half, sum)
	}
	*h = half
}

// maxRows is how many grants have a row of their own in the plot.
const maxRows = 8

// Geometry of the plot, in its own units.
const (
	plotWidth = 1040
	rowHeight = 46
	barsLeft  = 190
	barsRight = 940
	barHeight = 34
	axis      = 26
)

// Plot is bytes sent by grant and time, as bars; every row has the same scale.
type Plot struct {
	Rows          []PlotRow
	Ticks         []Tick
	Width, Height int
	Base          int // of the axis
	Left, Right   int
	Peak          int64         // bytes of the highest bar
	Bucket        time.Duration // time of one bar
	Start, End    time.Time
	More          int // grants without a row
	MoreSent      int64
}

// PlotRow is one grant.
type PlotRow struct {
	Name  string
	Full  string
	Total int64
	Peak  int64
	At    time.Time // of the peak
	Y     int       // of its base line
	Mid   int       // of its texts
	Bars  []Bar
}

// Bar is the bytes of one bucket.
type Bar struct {
	X, Y, W, H string
	Title      string
}

// Tick is a time on the axis.
type Tick struct {
	X      int
	Text   string
	Anchor string // of the text: start, middle or end
}

// plot draws the grants that sent most.
func (s *grants) plot() Plot {
	var all []*Grant
	buckets := 0
	p := Plot{Width: plotWidth, Left: barsLeft, Right: barsRight}
	for _, g := range s.byName {
		if g.Sent == 0 {
			continue
		}
		all = append(all, g)
		buckets = max(buckets, len(g.out))
		p.Peak = max(p.Peak, slices.Max(append(g.out, 0)))
	}
	if buckets == 0 {
		return Plot{}
	}
	slices.SortFunc(all, func(a, b *Grant) int { return cmp.Or(cmp.Compare(b.Sent, a.Sent), cmp.Compare(a.Name, b.Name)) })
	for _, g := range all[min(maxRows, len(all)):] {
		p.More++
		p.MoreSent += g.Sent
	}
	all = all[:min(maxRows, len(all))]
	p.Bucket, p.Start, p.End = s.clock.width, s.clock.start, s.clock.start.Add(time.Duration(buckets)*s.clock.width)
	for i, g := range all {
		p.Rows = append(p.Rows, s.row(g, i, buckets, p.Peak))
	}
	p.Base = len(all) * rowHeight
	p.Height = p.Base + axis
	p.ticks()
	return p
}

func (s *grants) row(g *Grant, i, buckets int, peak int64) PlotRow {
	base := i*rowHeight + barHeight + 6
	r := PlotRow{Name: clean(g.Name, 24), Full: g.Name, Total: g.Sent, Y: base, Mid: base - 8}
	step := float64(barsRight-barsLeft) / float64(buckets)
	for b, n := range g.out {
		if n == 0 {
			continue
		}
		at := s.clock.start.Add(time.Duration(b) * s.clock.width)
		if n > r.Peak {
			r.Peak, r.At = n, at
		}
		h := max(1.5, barHeight*float64(n)/float64(peak))
		r.Bars = append(r.Bars, Bar{
			X: number(barsLeft + step*float64(b)), Y: number(float64(base) - h), W: number(min(max(1, step-1), 16)), H: number(h),
			Title: at.Format(time.DateTime) + " UTC: " + size(n),
		})
	}
	return r
}

func number(f float64) string { return strconv.FormatFloat(f, 'f', 2, 64) }

// ticks names the begin, the middle and the end of the time.
func (p *Plot) ticks() {
	layout := "15:04:05"
	if p.End.Sub(p.Start) > 20*time.Hour {
		layout = "2 Jan 15:04"
	}
	for i, anchor := range []string{"start", "middle", "end"} {
		at := p.Start.Add(p.End.Sub(p.Start) / 2 * time.Duration(i))
		text := at.UTC().Format(layout)
		if n := len(p.Ticks); n > 0 && p.Ticks[n-1].Text == text {
			continue // less than a second apart
		}
		p.Ticks = append(p.Ticks, Tick{barsLeft + (barsRight-barsLeft)/2*i, text, anchor})
	}
}
