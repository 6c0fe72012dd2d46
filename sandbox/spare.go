package sandbox

import (
	"bufio"
	"fmt"
	"os"
	"os/user"
	"strconv"
)

// defaultSpareUID is what root's sandboxes run as: above every range that distributions give to accounts.
const defaultSpareUID = 165534

// outerUID is the user of the host that the sandbox's processes are.
func (c *Cage) outerUID() int {
	if os.Geteuid() != 0 || broken("identity") {
		return os.Geteuid()
	}
	if c.config.SpareUID != 0 {
		return c.config.SpareUID
	}
	return defaultSpareUID
}

// checkSpare refuses a spare user that somebody has, or that does not exist where scupper is root.
func checkSpare(uid int) error {
	if os.Geteuid() != 0 || broken("identity") {
		return nil
	}
	doing := fmt.Sprintf("run the sandbox as uid %d", uid)
	if u, err := user.LookupId(strconv.Itoa(uid)); err == nil {
		return environment(doing, fmt.Errorf("user %q has it", u.Username), "choose a uid that no account has")
	}
	if !mapped(uid) {
		return environment(doing, fmt.Errorf("it is not mapped in this user namespace"), "run scupper as an ordinary user, who needs no second one")
	}
	return nil
}

// mapped reports whether a uid exists in this process's user namespace (user_namespaces(7), uid_map).
func mapped(uid int) bool {
	f, err := os.Open("/proc/self/uid_map")
	if err != nil {
		return false
	}
	defer f.Close()
	for lines := bufio.NewScanner(f); lines.Scan(); {
		var first, outer, count int
		if _, err := fmt.Sscan(lines.Text(), &first, &outer, &count); err == nil && first <= uid && uid-first < count {
			return true
		}
	}
	return false
}
