package sandbox

import (
	"encoding/json"
	"fmt"
	"os"
	"slices"

	"golang.org/x/sys/unix"
)

// Descriptors that the first child inherits, in this order.
const (
	controlFD = 3 + iota
	planFD
	textsFD
	argsFD
	seccompFD
	statusFD
)

// maxFolders is how many mounts fit into one message to the child (SCM_MAX_FD, unix(7)).
const maxFolders = 253

// plan is what the supervisor tells the child to set up.
type plan struct {
	Ports   []uint16
	Bwrap   string
	Command []string
	Folders []folder
	Files   []placedText
	Texts   []int // sizes of the texts that follow each other in textsFD
	Limits  Limits
	Nested  bool // user namespaces may be made
	// Terminal says which standard descriptors are the sandbox's terminal.
	Terminal [3]bool
}

// stagedFile is a file of ours that covers Dest inside.
type stagedFile struct {
	Dest, Text string
}

// placedText is a stagedFile whose text is known by its number.
type placedText struct {
	Dest string
	Text int
}

// texts are the contents of files, each once: the bundle of certificates stands at several places.
type texts []string

// index returns the place of a text, which is added if it is new.
func (t *texts) index(text string) int {
	i := slices.Index(*t, text)
	if i < 0 {
		i = len(*t)
		*t = append(*t, text)
	}
	return i
}

func (t texts) sizes() []int {
	sizes := make([]int, len(t))
	for i, text := range t {
		sizes[i] = len(text)
	}
	return sizes
}

// staging is a tmpfs over the child's own view of this directory; everything that becomes the sandbox's root is put together there.
const staging = "/tmp"

func stagedFolder(i int) string { return fmt.Sprintf("%s/folder-%d", staging, i) }
func stagedText(i int) string   { return fmt.Sprintf("%s/file-%d", staging, i) }

// scratch are the directories inside that are writable and gone afterwards; together they have one size.
func scratch() []scratchDir {
	public := os.ModeSticky | 0o777
	return []scratchDir{{"tmp", "/tmp", public}, {"var-tmp", "/var/tmp", public}, {"run", "/run", 0o755}, {"home", Home, 0o755}, {"shm", "/dev/shm", public}}
}

type scratchDir struct {
	name, dest string
	mode       os.FileMode
}

func stagedScratch(name string) string { return staging + "/scratch/" + name }

// inMemory returns an anonymous file.
func inMemory(name string) (*os.File, error) {
	fd, err := unix.MemfdCreate(name, unix.MFD_CLOEXEC)
	if err != nil {
		return nil, fmt.Errorf("create memory file %q: %w", name, err)
	}
	return os.NewFile(uintptr(fd), name), nil
}

// fill writes at an offset: the child reads from the beginning through the same open file.
func fill(f *os.File, content []byte) error {
	if _, err := f.WriteAt(content, 0); err != nil {
		return fmt.Errorf("fill memory file %q: %w", f.Name(), err)
	}
	return nil
}

func (p plan) encode() ([]byte, error) {
	b, err := json.Marshal(p)
	if err != nil {
		return nil, fmt.Errorf("encode plan: %w", err)
	}
	return b, nil
}

func readPlan() (plan, error) {
	f := os.NewFile(planFD, "plan")
	defer f.Close()
	var p plan
	if err := json.NewDecoder(f).Decode(&p); err != nil {
		return plan{}, fmt.Errorf("decode plan: %w", err)
	}
	return p, nil
}
