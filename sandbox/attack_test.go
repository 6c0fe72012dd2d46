package sandbox

import (
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

func TestSystemCalls(t *testing.T) {
	r := newRoom(t)
	got := r.attempts(`
S=socket.socket
attempt("tcp",lambda:S(socket.AF_INET,socket.SOCK_STREAM).close())
attempt("udp6",lambda:S(socket.AF_INET6,socket.SOCK_DGRAM|socket.SOCK_NONBLOCK|socket.SOCK_CLOEXEC).close())
attempt("unix",lambda:S(socket.AF_UNIX,socket.SOCK_STREAM).close())
attempt("netlink route",lambda:S(socket.AF_NETLINK,socket.SOCK_RAW,0).close())
attempt("thread",lambda:__import__("threading").Thread(target=lambda:0).start())
attempt("vsock",lambda:S(40,socket.SOCK_STREAM))
attempt("vsock with high bits",lambda:sys_(41,40|1<<32,1,0))
attempt("packet",lambda:S(17,socket.SOCK_RAW))
attempt("alg",lambda:S(38,socket.SOCK_SEQPACKET))
attempt("raw",lambda:S(socket.AF_INET,socket.SOCK_RAW,1))
attempt("ping",lambda:S(socket.AF_INET,socket.SOCK_DGRAM,1))
attempt("mptcp",lambda:S(socket.AF_INET,socket.SOCK_STREAM,262))
attempt("sctp",lambda:S(socket.AF_INET,socket.SOCK_SEQPACKET,132))
attempt("netfilter",lambda:S(socket.AF_NETLINK,socket.SOCK_RAW,12))
attempt("io_uring",lambda:sys_(425,8,ctypes.create_string_buffer(256)))
attempt("clone3",lambda:sys_(435,0,0))
attempt("openat2",lambda:sys_(437,-100,b"/etc/passwd",0,24))
attempt("open_tree_attr",lambda:sys_(467,-100,b"/",1,0,0))
attempt("future call",lambda:sys_(500))
attempt("x32 getpid",lambda:sys_(0x40000000|39))
attempt("x32 socket",lambda:sys_(0x40000000|41,40,1,0))
attempt("unshare user",lambda:sys_(272,0x10000000))
attempt("unshare net",lambda:sys_(272,0x40000000))
attempt("clone user",lambda:sys_(56,0x10000000|17,0,0,0,0))
attempt("setns",lambda:sys_(308,0,0))
attempt("mount",lambda:sys_(165,b"none",b"/tmp",b"tmpfs",0,0))
attempt("umount",lambda:sys_(166,b"/etc/passwd",2))
attempt("fsopen",lambda:sys_(430,b"tmpfs",0))
attempt("open_tree",lambda:sys_(428,-100,b"/",1))
attempt("move_mount",lambda:sys_(429,0,b"",0,b"",0))
attempt("mount_setattr",lambda:sys_(442,0,b"",0,0,0))
attempt("pivot_root",lambda:sys_(155,b"/",b"/"))
attempt("chroot",lambda:sys_(161,b"/tmp"))
attempt("open_by_handle_at",lambda:sys_(304,0,0,0))
attempt("name_to_handle_at",lambda:sys_(303,-100,b"/",0,0,0))
attempt("keyctl",lambda:sys_(250,0,-3,0))
attempt("bpf",lambda:sys_(321,0,0,0))
attempt("userfaultfd",lambda:sys_(323,0))
attempt("perf_event_open",lambda:sys_(298,0,0,0,0,0))
import pty,fcntl
m,s=pty.openpty()
attempt("tiocsti",lambda:sys_(16,s,0x5412,b"x"))
attempt("tiocsti with high bits",lambda:sys_(16,s,0x5412|1<<32,b"x"))
attempt("tioclinux",lambda:sys_(16,s,0x541c,b"\x02"))
attempt("terminal size",lambda:sys_(16,s,0x5413,ctypes.create_string_buffer(8)))
`)
	r.want(got, map[string]string{
		"tcp": "ok", "udp6": "ok", "unix": "ok", "netlink route": "ok", "thread": "ok", "terminal size": "ok",
		"vsock": "EAFNOSUPPORT", "vsock with high bits": "EAFNOSUPPORT", "packet": "EAFNOSUPPORT", "alg": "EAFNOSUPPORT", "netfilter": "EAFNOSUPPORT",
		"raw": "EPROTONOSUPPORT", "ping": "EPROTONOSUPPORT", "mptcp": "EPROTONOSUPPORT", "sctp": "EPROTONOSUPPORT",
		"io_uring": "ENOSYS", "clone3": "ENOSYS", "openat2": "ENOSYS", "future call": "ENOSYS", "open_tree_attr": "ENOSYS", "x32 getpid": "ENOSYS", "x32 socket": "ENOSYS",
		"unshare user": "EPERM", "unshare net": "EPERM", "clone user": "EPERM", "setns": "EPERM", "mount": "EPERM", "umount": "EPERM", "fsopen": "EPERM",
		"open_tree": "EPERM", "move_mount": "EPERM", "mount_setattr": "EPERM", "pivot_root": "EPERM", "chroot": "EPERM",
		"open_by_handle_at": "EPERM", "name_to_handle_at": "EPERM", "keyctl": "EPERM", "bpf": "EPERM", "userfaultfd": "EPERM", "perf_event_open": "EPERM",
		"tiocsti": "EPERM", "tiocsti with high bits": "EPERM", "tioclinux": "EPERM",
	})
}

func TestForeignArchitecture(t *testing.T) {
	r := newRoom(t)
	// getpid of i386 by int 0x80, and the same by syscall as a control of the method.
	got := r.attempts(`
import mmap
def code(b):
    m=mmap.mmap(-1,4096,prot=7); m.write(b)
    return ctypes.CFUNCTYPE(ctypes.c_int)(ctypes.addressof(ctypes.c_char.from_buffer(m)))()
attempt("syscall",lambda:code(bytes.fromhex("b8270000000f05c3"))==os.getpid())
attempt("int80",lambda:code(bytes.fromhex("b814000000cd80c3")))
`)
	r.want(got, map[string]string{"syscall": "True", "int80": fmt.Sprint(-int(unix.ENOSYS))})
}

func TestSetUserIDFiles(t *testing.T) {
	r := newRoom(t)
	got := r.attempts(`
open("f","w").close()
AT=-100
attempt("chmod control",lambda:os.chmod("f",0o755))
attempt("chmod",lambda:sys_(90,b"f",0o4755))
attempt("chmod setgid",lambda:sys_(90,b"f",0o2755))
attempt("chmod high bits",lambda:sys_(90,b"f",0o4755|1<<40))
attempt("fchmod",lambda:os.fchmod(os.open("f",os.O_RDWR),0o4755))
attempt("fchmodat",lambda:sys_(268,AT,b"f",0o4755))
attempt("fchmodat2",lambda:sys_(452,AT,b"f",0o4755,0))
attempt("open",lambda:sys_(2,b"a",0o102,0o4755))
attempt("open garbage mode",lambda:sys_(2,b"f",0,0o4755))
attempt("openat",lambda:sys_(257,AT,b"b",0o102,0o4755))
attempt("tmpfile",lambda:sys_(257,AT,b".",0o20200002,0o4755))
attempt("tmpfile control",lambda:sys_(257,AT,b".",0o20200002,0o755))
attempt("creat",lambda:sys_(85,b"c",0o4755))
attempt("mknod",lambda:sys_(133,b"d",0o104755,0))
attempt("mknodat",lambda:sys_(259,AT,b"e",0o104755,0))
attempt("device",lambda:sys_(133,b"g",0o060600,0x801))
`)
	r.want(got, map[string]string{"chmod control": "ok", "open garbage mode": "ok", "tmpfile control": "ok",
		"chmod": "EPERM", "chmod setgid": "EPERM", "chmod high bits": "EPERM", "fchmod": "EPERM", "fchmodat": "EPERM", "fchmodat2": "EPERM", "open": "EPERM",
		"openat": "EPERM", "tmpfile": "EPERM", "creat": "EPERM", "mknod": "EPERM", "mknodat": "EPERM", "device": "EPERM"})
	entries, err := os.ReadDir(r.config.Workdir)
	if err != nil || len(entries) != 1 || entries[0].Name() != "f" {
		t.Errorf("on disk: %v, %v; want f alone", entries, err)
	}
}

func TestHostServices(t *testing.T) {
	r := newRoom(t)
	dir := filepath.Dir(r.config.Workdir)
	path := filepath.Join(dir, "docker.sock")
	t.Setenv("DBUS_SESSION_BUS_ADDRESS", "unix:path="+path)
	t.Setenv("SSH_AUTH_SOCK", path)
	for _, address := range []string{path, "@scupper-sandbox-test"} {
		l, err := net.Listen("unix", address)
		if err != nil {
			t.Fatal(err)
		}
		defer l.Close()
		control, err := net.Dial("unix", address)
		if err != nil {
			t.Fatalf("control: %v", err)
		}
		control.Close()
	}
	got := r.attempts(fmt.Sprintf(`
attempt("SBX-01 path",lambda:socket.socket(socket.AF_UNIX).connect(%q))
attempt("SBX-03 abstract",lambda:socket.socket(socket.AF_UNIX).connect("\0scupper-sandbox-test"))
attempt("SBX-02 bus",lambda:[k for k in os.environ if "DBUS" in k or "SSH" in k or "XDG" in k])
attempt("run",lambda:os.listdir("/run"))
attempt("var run",lambda:os.readlink("/var/run"))
attempt("home",lambda:os.listdir(os.environ["HOME"]))
attempt("host home",lambda:os.path.exists(%q))
attempt("sys",lambda:os.path.exists("/sys"))
attempt("root",lambda:sorted(set(os.listdir("/"))-{"bin","lib","lib32","lib64","libx32","sbin","opt"}))
`, path, os.Getenv("HOME")))
	r.want(got, map[string]string{"SBX-01 path": "ENOENT", "SBX-03 abstract": "ECONNREFUSED", "SBX-02 bus": "[]", "run": "[]", "var run": "/run", "home": "[]",
		"host home": "False", "sys": "False", "root": "['dev', 'etc', 'home', 'proc', 'run', 'tmp', 'usr', 'var']"})
}

func TestInheritedDescriptors(t *testing.T) {
	r := newRoom(t)
	secret := filepath.Join(filepath.Dir(r.config.Workdir), "secret")
	if err := os.WriteFile(secret, []byte("s"), 0o644); err != nil {
		t.Fatal(err)
	}
	// Without O_CLOEXEC, as a careless launcher leaves it.
	fd, err := unix.Open(secret, unix.O_RDONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer unix.Close(fd)
	got := r.attempts(`
attempt("SBX-04 open",lambda:sorted(os.listdir("/proc/self/fd"),key=int)[:-1])
attempt("kinds",lambda:{os.readlink("/proc/self/fd/"+str(i)).split(":")[0] for i in range(3)})
attempt("first process",lambda:{os.readlink("/proc/1/fd/"+f).split(":")[0] for f in os.listdir("/proc/1/fd")}-{"pipe"})
attempt("its status pipe",lambda:len([f for f in os.listdir("/proc/1/fd") if os.readlink("/proc/1/fd/"+f).startswith("pipe")]))
attempt("reopen",lambda:open("/dev/stdout","w").close())
`)
	r.want(got, map[string]string{"first process": "{'anon_inode'}", "its status pipe": "3", "SBX-04 open": "['0', '1', '2']", "kinds": "{'pipe'}", "reopen": "ok"})
}

func TestProcessesOfTheHost(t *testing.T) {
	r := newRoom(t)
	t.Setenv("SCUPPER_TEST_SECRET", "visible-to-the-supervisor-only")
	got := r.attempts(`
attempt("few",lambda:len([p for p in os.listdir("/proc") if p.isdigit()])<6)
attempt("environ",lambda:[p for p in os.listdir("/proc") if p.isdigit() and b"visible-to" in open("/proc/"+p+"/environ","rb").read()])
attempt("kill",lambda:os.kill(-1,0))
attempt("sysctl",lambda:open("/proc/sys/kernel/hostname","w").write("x"))
attempt("caps",lambda:{l.split()[1] for l in open("/proc/self/status") if l.startswith("Cap")})
attempt("first process",lambda:[l.split()[1] for l in open("/proc/1/status") if l.startswith(("CapEff","CapBnd","NoNewPrivs","Seccomp:"))])
PTRACE_ATTACH,PTRACE_SEIZE=16,0x4206
attempt("ptrace first process",lambda:sys_(101,PTRACE_ATTACH,1,0,0))
attempt("seize first process",lambda:sys_(101,PTRACE_SEIZE,1|1<<32,0,0))
attempt("read first process",lambda:sys_(310,1,0,0,0,0,0))
attempt("write first process",lambda:sys_(311,1,0,0,0,0,0))
import subprocess
child=subprocess.Popen(["sleep","100"])
attempt("ptrace control",lambda:sys_(101,PTRACE_SEIZE,child.pid,0,0))
child.kill()
attempt("new privileges",lambda:[l.split()[1] for l in open("/proc/self/status") if l.startswith("NoNewPrivs")])
`)
	r.want(got, map[string]string{"few": "True", "environ": "[]", "kill": "ESRCH", "sysctl": "EACCES", "caps": "{'0000000000000000'}", "new privileges": "['1']",
		"ptrace first process": "EPERM", "seize first process": "EPERM", "read first process": "EPERM", "write first process": "EPERM", "ptrace control": "ok",
		"first process": "['0000000000000000', '0000000000000000', '1', '2']"})
}

func TestNetworkOfTheCage(t *testing.T) {
	r := newRoom(t)
	r.config.Ports = []uint16{80, 443}
	cage := r.prepare("/usr/bin/python3", "-c", prelude+`
def tcp(h,p,f=socket.AF_INET):
    s=socket.socket(f); s.settimeout(5); s.connect((h,p)); return s.recv(100).decode()
def udp(h,p,f=socket.AF_INET):
    s=socket.socket(f,socket.SOCK_DGRAM); s.settimeout(5); s.connect((h,p)); s.send(b"x"); return s.recv(100)
attempt("granted",lambda:tcp("198.51.100.7",443))
attempt("granted v6",lambda:tcp("2001:db8::7",80,socket.AF_INET6))
attempt("tcp",lambda:tcp("198.51.100.7",853))
attempt("udp",lambda:udp("198.51.100.7",443))
attempt("low port",lambda:socket.socket().bind(("0.0.0.0",443)))
`)
	defer r.close(cage)
	for _, l := range cage.Sockets().TCP {
		go func() {
			for {
				c, err := l.Accept()
				if err != nil {
					return
				}
				fmt.Fprint(c, c.LocalAddr())
				c.Close()
			}
		}()
	}
	if err := cage.Start(); err != nil {
		t.Fatal(err)
	}
	if code, err := cage.Wait(); code != 0 || err != nil {
		t.Fatalf("%d, %v: %s", code, err, &r.err)
	}
	for _, line := range []string{"granted=198.51.100.7:443", "granted v6=[2001:db8::7]:80", "tcp=ECONNREFUSED", "udp=ECONNREFUSED", "low port=EACCES"} {
		if !strings.Contains(r.out.String(), line+"\n") {
			t.Errorf("no line %q in %s", line, &r.out)
		}
	}
	for _, c := range cage.Controls() {
		if c.Name == "network" && !c.InForce {
			t.Errorf("control %+v", c)
		}
	}
	log := cage.Sockets().Packets
	if err := log.Stop(); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"198.51.100.7:853", "198.51.100.7:443"} {
		if p, err := log.Next(); err != nil || p.Dst.String() != want {
			t.Errorf("packet %v, %v; want %s", p, err, want)
		}
	}
}
