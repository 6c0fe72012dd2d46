package sandbox

// filterProgram builds the filter: the checked-in one is for amd64 only.
func filterProgram() ([]byte, error) { return buildFilter(false) }

// knownSyscalls are the calls of Linux 6.14, from include/uapi/asm-generic/unistd.h. The next one, 467, is part of the mount API.
func knownSyscalls() []uintptr {
	var all []uintptr
	for n := uintptr(0); n <= 466; n++ {
		all = append(all, n)
	}
	return all
}

func archDenied() []denied           { return nil }
func archConditional() []conditional { return nil }
