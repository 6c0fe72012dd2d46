package sandbox

import (
	"fmt"
	"os"

	"golang.org/x/sys/unix"
)

// terminalMessage goes along with the master of a terminal.
const terminalMessage = "terminal"

// openTerminal makes a terminal in the sandbox's own file system, hands the master to the supervisor and makes the slave this session's terminal. It
// returns the slave. Neither bubblewrap nor its first process inside hears the terminal's signals, being the first of their process namespaces; so the
// command alone does, although it is in their session and group.
func openTerminal() (int, error) {
	master, err := unix.Open(stagedRoot+"/dev/pts/ptmx", unix.O_RDWR|unix.O_NOCTTY|unix.O_CLOEXEC, 0)
	if err != nil {
		return -1, fmt.Errorf("make a terminal: %w", err)
	}
	defer unix.Close(master)
	if err := unix.IoctlSetPointerInt(master, unix.TIOCSPTLCK, 0); err != nil {
		return -1, fmt.Errorf("unlock the terminal: %w", err)
	}
	number, err := unix.IoctlGetInt(master, unix.TIOCGPTN)
	if err != nil {
		return -1, fmt.Errorf("find the terminal: %w", err)
	}
	slave, err := unix.Open(fmt.Sprintf("%s/dev/pts/%d", stagedRoot, number), unix.O_RDWR|unix.O_NOCTTY|unix.O_CLOEXEC, 0)
	if err != nil {
		return -1, fmt.Errorf("open the terminal: %w", err)
	}
	if err := unix.IoctlSetInt(slave, unix.TIOCSCTTY, 0); err != nil {
		return -1, fmt.Errorf("take the terminal: %w", err)
	}
	if err := unix.Sendmsg(controlFD, []byte(terminalMessage), unix.UnixRights(master), nil, 0); err != nil {
		return -1, fmt.Errorf("hand over the terminal: %w", err)
	}
	return slave, nil
}

// stageTerminal puts the terminal in the place of standard descriptors.
func (p plan) stageTerminal() error {
	if p.Terminal == [3]bool{} {
		return nil
	}
	slave, err := openTerminal()
	if err != nil {
		return err
	}
	for fd, wanted := range p.Terminal {
		if !wanted {
			continue
		}
		if err := unix.Dup2(slave, fd); err != nil {
			return os.NewSyscallError("dup2", err)
		}
	}
	return unix.Close(slave)
}
