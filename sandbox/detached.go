package sandbox

import (
	"errors"
	"os"
)

// detached are the mounts that root's sandboxes need of the folders. Each takes a process of its own (see idMapping), so they are made while the
// child starts.
type detached struct {
	done  chan struct{} // closed when the rest is there
	files []*os.File    // one for each folder
	err   error
}

// detach begins to make the mounts for the spare user. For an ordinary user there are none.
func detach(folders []folder, spare int) *detached {
	d := &detached{done: make(chan struct{})}
	if os.Geteuid() != 0 {
		close(d.done)
		return d
	}
	for i := range folders {
		folders[i].Mounted = true
	}
	wanted := append([]folder(nil), folders...) // what protects them is planned meanwhile
	go func() {
		defer close(d.done)
		if d.err = checkSpare(spare); d.err != nil {
			return
		}
		for _, f := range wanted {
			file, err := f.idMapped(spare)
			if err != nil {
				d.err = err
				return
			}
			d.files = append(d.files, file)
		}
	}()
	return d
}

// take waits for the mounts. They stay open until close.
func (d *detached) take() ([]*os.File, error) {
	<-d.done
	return d.files, d.err
}

func (d *detached) close() error {
	if d == nil {
		return nil
	}
	<-d.done
	var errs []error
	for _, f := range d.files {
		errs = append(errs, f.Close())
	}
	d.files = nil
	return errors.Join(errs...)
}
