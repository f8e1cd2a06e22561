package red

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// try is one attempt: what the session runs, and how it is seen that it worked.
type try struct {
	line    string
	sign    string                 // a word in what it printed; never in the line itself
	outside func(said string) bool // or something to be seen from outside
	tidy    func()                 // what has to be put back before the next way, if anything
}

// way is a way out. Rooted ones work for root alone, so in no box of another user.
type way struct {
	chapter, name string
	rooted        bool
	run           func(c *cell) try
}

func says(line, sign string) try { return try{line: line, sign: sign} }

func exists(line, path string) try {
	return try{line: line, outside: func(string) bool {
		_, err := os.Lstat(path)
		return err == nil && os.RemoveAll(path) == nil
	}}
}

// onSocket asks the daemon on its control socket.
func (c *cell) onSocket(path, body string) string {
	return fmt.Sprintf(`curl -s -m 5 --unix-socket %s/.tandem/tandem.sock -H 'Content-Type: application/json' -d '%s' http://tandem%s`, c.home,
		body, path)
}

// ways are all of them, in the order of the table.
var ways = slices.Concat(everyday, kernelWays, gitWays)

var everyday = []way{
	{"read", "a key of the person's", false, func(c *cell) try { return says("cat "+c.home+"/.ssh/id_ed25519", c.canary) }},
	{"read", "a file beside the folder", false, func(c *cell) try { return says("cat ../diary.txt", c.canary) }},
	{"read", "behind a link", false, func(c *cell) try { return says("ln -sf ../diary.txt link; cat link; rm link", c.canary) }},
	{"read", "behind a hard link", false, func(c *cell) try { return says("ln ../diary.txt hard; cat hard; rm -f hard", c.canary) }},
	{"read", "through its own root in /proc", false, func(c *cell) try {
		return says("cat /proc/self/root"+c.home+"/.ssh/id_ed25519", c.canary)
	}},
	{"read", "through others' roots in /proc", false, func(c *cell) try {
		return says("cat /proc/[0-9]*/root"+c.home+"/.ssh/id_ed25519", c.canary)
	}},
	{"read", "the database", false, func(c *cell) try { return says("head -c 6 "+c.home+"/.tandem/tandem.db", "SQLite") }},
	{"read", "the database's log", false, func(c *cell) try {
		return says("wc -c < "+c.home+"/.tandem/tandem.db-wal && printf GOT%s IT", "GOTIT")
	}},
	{"read", "the server's log", false, func(c *cell) try { return says("cat "+c.home+"/.tandem/tandem.log", "ready") }},
	{"read", "what others left in /tmp", false, func(c *cell) try { return says("cat "+c.tmp, c.canary) }},
	{"read", "by searching the home", false, func(c *cell) try { return says("grep -rhs CANAR "+c.home, c.canary) }},
	{"read", "the machine's passwords", true, func(c *cell) try { return says("head -c 4 /etc/shadow", "root") }},

	{"write", "a file beside the folder", false, func(c *cell) try { return exists("touch ../outside", c.beside("outside")) }},
	{"write", "behind a link", false, func(c *cell) try { return exists("ln -s .. up; touch up/linked; rm up", c.beside("linked")) }},
	{"write", "in the home", false, func(c *cell) try { return exists("touch "+c.home+"/made", filepath.Join(c.home, "made")) }},
	{"write", "in tandem's folder", false, func(c *cell) try {
		return exists("touch "+c.home+"/.tandem/made", filepath.Join(c.home, ".tandem", "made"))
	}},
	{"write", "the folder to another place", false, func(c *cell) try { return exists("cp -r . ../copied", c.beside("copied")) }},
	{"write", "in everybody's /tmp", false, func(c *cell) try { return exists("touch "+c.tmp+".made", c.tmp+".made") }},
	{"write", "through its own root in /proc", false, func(c *cell) try {
		return exists("touch /proc/self/root"+c.home+"/rooted", filepath.Join(c.home, "rooted"))
	}},
	{"write", "through the working folder of others", false, func(c *cell) try {
		return exists(fmt.Sprintf("touch /proc/%d/cwd/others", c.pid), filepath.Join(c.home, "others"))
	}},
	{"write", "in the system", true, func(c *cell) try { return exists("touch /usr/"+c.mark, "/usr/"+c.mark) }},

	{"decide", "on the control socket", false, func(c *cell) try {
		return says(c.onSocket("/op/server.status", "{}"), `"pin_set":true`)
	}},
	{"decide", "listing what waits", false, func(c *cell) try { return says(c.onSocket("/op/approval.list", "{}"), `{"asks":`) }},
	{"decide", "on the control socket, by another program", false, func(c *cell) try {
		return says(python(`import socket; s=socket.socket(socket.AF_UNIX); s.connect("`+c.home+`/.tandem/tandem.sock"); print("CONN"+"ECTED")`),
			"CONNECTED")
	}},
	{"decide", "over loopback", false, func(c *cell) try { return says("curl -s -m 5 "+c.url+"/global/health", `"ready"`) }},
	{"decide", "over loopback, by a socket of its own", false, func(c *cell) try {
		return says(python(`import socket; socket.create_connection(("127.0.0.1",`+c.port()+`),5); print("CONN"+"ECTED")`), "CONNECTED")
	}},
	{"decide", "over loopback, by its second name", false, func(c *cell) try {
		return says("curl -s -m 5 http://localhost:"+c.port()+"/global/health", `"ready"`)
	}},
	{"decide", "with the API's token", false, func(c *cell) try {
		return says("curl -s -m 5 -H 'Authorization: Bearer "+token+"' "+c.url+"/session", `"sessions"`)
	}},
	{"decide", "with the program", false, func(c *cell) try { return says("HOME="+c.home+" "+c.bin+" status --json", `"running":true`) }},

	{"mint", "from the database's rows", false, func(c *cell) try {
		return says(python(`import sqlite3; print("ROWS"+str(len(sqlite3.connect("`+c.home+
			`/.tandem/tandem.db").execute("select 1 from sqlite_master").fetchall())>9))`), "ROWSTrue")
	}},
	{"mint", "by a row of its own", false, func(c *cell) try {
		// The way before may have made a file of that name in the box's own home: it counts when it is the database.
		return says(python(`f = open("`+c.home+`/.tandem/tandem.db","rb+"); assert f.read(6) == b"SQLite"; print("OPEN"+"ED")`),
			"OPENED")
	}},
	{"mint", "with the journal's key", false, func(c *cell) try {
		return says("wc -c < "+c.home+"/.tandem/journal.key && printf GOT%s IT", "GOTIT")
	}},
	{"mint", "with the key of secrets", false, func(c *cell) try {
		return says("wc -c < "+c.home+"/.tandem/secret.key && printf GOT%s IT", "GOTIT")
	}},
	{"mint", "with the key of spaces", false, func(c *cell) try {
		return says("wc -c < "+c.home+"/.tandem/space.key && printf GOT%s IT", "GOTIT")
	}},
	{"mint", "by the names of what is kept", false, func(c *cell) try { return says("ls "+c.home+"/.tandem", "journal.key") }},
	{"mint", "from the environment of the server", false, func(c *cell) try {
		return says(fmt.Sprintf("tr '\\0' '\\n' < /proc/%d/environ", c.pid), "TANDEM_API_TOKEN=")
	}},
	{"mint", "by taking the whole data folder along", false, func(c *cell) try {
		return exists("cp -r "+c.home+"/.tandem stolen", c.inside("stolen/journal.key"))
	}},

	{"spy", "the processes of the machine", false, func(c *cell) try {
		return says("cat /proc/[0-9]*/cmdline | tr '\\0' ' '", "serve --port")
	}},
	{"spy", "the server's memory map", false, func(c *cell) try { return says(fmt.Sprintf("cat /proc/%d/maps", c.pid), "r-xp") }},
	{"spy", "the server's open files", false, func(c *cell) try { return says(fmt.Sprintf("ls -l /proc/%d/fd", c.pid), "tandem.db") }},
	{"spy", "the server's folder", false, func(c *cell) try {
		return says(fmt.Sprintf("readlink /proc/%d/cwd && printf GOT%%s IT", c.pid), "GOTIT")
	}},
	{"spy", "whether the server lives", false, func(c *cell) try {
		return says(fmt.Sprintf("kill -0 %d && printf ALI%%s VE", c.pid), "ALIVE")
	}},
	{"spy", "the machine's sockets", false, func(c *cell) try { return says("cat /proc/net/unix", "tandem.sock") }},
	{"spy", "the server's priority", false, func(c *cell) try {
		return says(fmt.Sprintf("renice -n 1 -p %d && printf REN%%s ICED", c.pid), "RENICED")
	}},
	{"spy", "the server's limits", false, func(c *cell) try { return says(fmt.Sprintf("cat /proc/%d/limits", c.pid), "Max open files") }},

	{"persist", "in the shell's start", false, func(c *cell) try {
		return exists("echo true >> "+c.home+"/.bashrc", filepath.Join(c.home, ".bashrc"))
	}},
	{"persist", "in the keys that may sign in", false, func(c *cell) try {
		return exists("echo key >> "+c.home+"/.ssh/authorized_keys", filepath.Join(c.home, ".ssh", "authorized_keys"))
	}},
	{"persist", "in the person's services", false, func(c *cell) try {
		return exists("mkdir -p "+c.home+"/.config/systemd/user && touch "+c.home+"/.config/systemd/user/x.service",
			filepath.Join(c.home, ".config", "systemd"))
	}},
	{"persist", "in the person's git", false, func(c *cell) try {
		return exists("echo '[core]' >> "+c.home+"/.gitconfig", filepath.Join(c.home, ".gitconfig"))
	}},
	{"persist", "by a program that stays", false, func(c *cell) try { return c.stays("setsid sleep 86%s >/dev/null 2>&1 &") }},
	{"persist", "by a program that nobody waits for", false, func(c *cell) try {
		return c.stays("(nohup sleep 86%s >/dev/null 2>&1 &) &")
	}},
	{"persist", "in a hook of the repository", false, func(c *cell) try {
		return exists("mkdir -p .git/hooks; echo true > .git/hooks/pre-commit; chmod +x .git/hooks/pre-commit", c.inside(".git/hooks/pre-commit"))
	}},
	{"persist", "in a repository moved aside and back", false, func(c *cell) try {
		return exists("mv .git g; cp -a g .git; rm -rf g; mkdir -p .git/hooks; echo true > .git/hooks/post-merge",
			c.inside(".git/hooks/post-merge"))
	}},

	{"exhaust", "memory, 600 MB of it", false, func(c *cell) try {
		return says(python(`x=bytearray(600*1048576); print("GOT"+str(len(x)>>20))`), "GOT600")
	}},
	{"exhaust", "processes, 300 of them", false, func(c *cell) try {
		return says("for i in $(seq 300); do sleep 1 & done; printf STAR%s TED", "STARTED")
	}},
}

func python(program string) string { return "python3 -c '" + program + "'" }

func (c *cell) beside(name string) string { return filepath.Join(c.home, "work", name) }
func (c *cell) inside(name string) string {
	return filepath.Join(c.home, "work", "code", filepath.FromSlash(name))
}
func (c *cell) port() string { return c.url[strings.LastIndex(c.url, ":")+1:] }
