package audit

import "fmt"

// maxCaused is how many decisions an explanation lists that a tool call caused.
const maxCaused = 20

// Link is a decision that another one has to do with.
type Link struct {
	ID      string `json:"id"`
	Asked   string `json:"asked"`
	Verdict string `json:"verdict"`
	Reason  string `json:"reason"`
}

// String is what was asked, how that was answered, and where to read more.
func (l Link) String() string {
	return fmt.Sprintf("%s: %s, %s (%s)", l.Asked, l.Verdict, l.Reason, l.ID)
}

// link adds to e the tool call that caused r, or what the tool call r caused.
func (e *Explanation) link(dir, run string, r *Record) error {
	if r.Call == "" && r.Tool == nil {
		return nil
	}
	for other, err := range Records(dir, run) {
		switch {
		case err != nil:
			return err
		case other.Event != Decided:
		case other.ID == r.Call:
			e.Call = &Link{other.ID, asked(other), other.Verdict, other.Reason}
		case r.Tool != nil && other.Call == r.ID:
			if e.Others++; len(e.Caused) < maxCaused {
				e.Caused = append(e.Caused, Link{other.ID, asked(other), other.Verdict, other.Reason})
				e.Others--
			}
		}
	}
	return nil
}
