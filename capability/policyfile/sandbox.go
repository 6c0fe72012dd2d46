package policyfile

import (
	"fmt"
	"math"
	"math/big"
	"strconv"
	"strings"
	"time"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"
)

// Sandbox is what a run may use of the machine. A zero field was not asked for.
type Sandbox struct {
	Memory    int64         // bytes
	CPUs      float64       // processors' worth of time
	Processes int64         // at once
	Time      time.Duration // from the start to the end
	Scratch   int64         // bytes of temporary directories
	Output    int64         // bytes of standard output and error together
}

// maxCPUs and maxProcesses are more than any machine has.
const (
	maxCPUs      = 4096
	maxProcesses = 1 << 22
)

func (p *parser) sandbox(b *hcl.Block) {
	content := p.content(b.Body, sandboxBlock)
	s := &p.file.Sandbox
	for name, to := range map[string]*int64{"memory": &s.Memory, "scratch": &s.Scratch, "output": &s.Output} {
		if a := content.Attributes[name]; a != nil {
			*to, _ = p.size(a.Expr)
		}
	}
	if a := content.Attributes["cpus"]; a != nil {
		s.CPUs, _ = p.cpus(a.Expr)
	}
	if a := content.Attributes["processes"]; a != nil {
		s.Processes, _ = p.integer(a.Expr, maxProcesses)
	}
	if a := content.Attributes["time"]; a != nil {
		s.Time, _ = p.duration(a.Expr)
	}
}

// cpus reads a number of processors, which need not be whole.
func (s *source) cpus(e hcl.Expression) (float64, bool) {
	if lit, ok := bare(e).(*hclsyntax.LiteralValueExpr); ok && !lit.Val.IsNull() && lit.Val.Type() == cty.Number {
		if v := lit.Val.AsBigFloat(); v.Cmp(big.NewFloat(0)) > 0 {
			f, _ := v.Float64()
			if ValidCPUs(f) {
				return f, true
			}
		}
	}
	s.fail(e.Range(), "not a number of processors", fmt.Sprintf("write a number from 0.01 to %d, without quotes: cpus = 1.5", maxCPUs))
	return 0, false
}

// ValidCPUs reports whether a run can be held to a number of processors: less than a
// hundredth of one is too little for the kernel's accounts.
func ValidCPUs(n float64) bool { return n >= 0.01 && n <= maxCPUs }

// duration reads a time that a run may take: "90s", "30m", "1h30m".
func (s *source) duration(e hcl.Expression) (time.Duration, bool) {
	v, ok := s.str(e)
	if !ok {
		return 0, false
	}
	d, err := time.ParseDuration(v)
	if err != nil || d < time.Second {
		s.fail(e.Range(), fmt.Sprintf("%q is not a time of a second or more", v), `write numbers and units: "90s", "30m", "1h30m"`)
		return 0, false
	}
	return d, true
}

// Size reads a number of bytes as policies write it: "512B", "64KiB", "4GiB".
func Size(text string) (int64, error) {
	digits := strings.TrimRight(text, "BKMGTikmgt ")
	n, err := strconv.ParseUint(digits, 10, 63)
	unit, known := byteUnit(strings.TrimSpace(text[len(digits):]))
	if err != nil || n < 1 || !known || n > math.MaxInt64/uint64(unit) {
		return 0, fmt.Errorf("%q is not a size: write a positive number and a unit, as in 64KiB, 256MiB, 4GiB", text)
	}
	return int64(n) * unit, nil
}
