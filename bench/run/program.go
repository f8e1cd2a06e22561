package main

import (
	"bytes"
	"errors"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"
)

const benchToken = "tdm_bench_token_0123456789"

// program is the static program, running with a home of its own.
type program struct {
	url, dir string
	cmd      *exec.Cmd
	took     time.Duration // from start to healthy
	said     bytes.Buffer
}

var binary string

func build() (string, error) {
	if binary != "" {
		return binary, nil
	}
	path := filepath.Join("bin", "tandem")
	cmd := exec.Command("make", "-s", path)
	if out, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("build: %w\n%s", err, out)
	}
	abs, err := filepath.Abs(path)
	binary = abs
	return abs, err
}

func startProgram(env ...string) (*program, error) {
	bin, err := build()
	if err != nil {
		return nil, err
	}
	return startOf(bin, env...)
}

// startOf starts any build of the program on an empty data folder.
func startOf(bin string, env ...string) (*program, error) {
	dir, err := scratch("tb")
	if err != nil {
		return nil, err
	}
	port, err := freePort()
	if err != nil {
		return nil, err
	}
	p := &program{url: fmt.Sprintf("http://127.0.0.1:%d", port), dir: dir}
	p.cmd = exec.Command(bin, "serve", "--data", filepath.Join(dir, "data"), "--listen", strings.TrimPrefix(p.url, "http://"))
	p.cmd.Env = append([]string{"HOME=" + dir, "PATH=" + os.Getenv("PATH"), "TANDEM_API_TOKEN=" + benchToken}, env...)
	p.cmd.Stderr = &p.said
	began := time.Now()
	if err := p.cmd.Start(); err != nil {
		return nil, err
	}
	for time.Since(began) < 20*time.Second {
		resp, err := http.Get(p.url + "/global/health")
		if err == nil {
			resp.Body.Close()
			if resp.StatusCode == http.StatusOK {
				p.took = time.Since(began)
				return p, nil
			}
		}
		time.Sleep(2 * time.Millisecond)
	}
	return nil, errors.Join(errors.New("the program is not healthy after 20 s"), p.stop())
}

func (p *program) stop() error {
	err := p.cmd.Process.Signal(syscall.SIGTERM)
	if ended := p.cmd.Wait(); ended != nil {
		err = errors.Join(err, fmt.Errorf("the program ended: %w\n%s", ended, p.said.String()))
	}
	return err
}

// memory is the program's resident size in megabytes, where Linux tells it.
func (p *program) memory() (float64, error) {
	data, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", p.cmd.Process.Pid))
	if err != nil {
		return 0, err
	}
	for line := range strings.Lines(string(data)) {
		if rest, ok := strings.CutPrefix(line, "VmRSS:"); ok {
			kb, err := strconv.ParseFloat(strings.Fields(rest)[0], 64)
			return kb / 1000, err
		}
	}
	return 0, errors.New("no VmRSS")
}

// theProgram measures starting and idling.
func theProgram(int) (section, error) {
	s := section{title: "The program", how: "The static program on an empty data folder: from exec to the first healthy answer, " +
		"median of ten; resident memory after three idle seconds."}
	var took []time.Duration
	for range 10 {
		p, err := startProgram()
		if err != nil {
			return s, err
		}
		took = append(took, p.took)
		if err := p.stop(); err != nil {
			return s, err
		}
	}
	slices.Sort(took)
	p, err := startProgram()
	if err != nil {
		return s, err
	}
	time.Sleep(3 * time.Second)
	mb, err := p.memory()
	if err != nil {
		return s, err
	}
	const rest = 20
	time.Sleep(rest * time.Second) // what starting left to do is done
	before := switches(p.cmd.Process.Pid)
	time.Sleep(rest * time.Second)
	woken := float64(switches(p.cmd.Process.Pid)-before) / rest
	info, err := os.Stat(binary)
	if err != nil {
		return s, err
	}
	s.figures = []figure{
		{what: "start to healthy", value: took[len(took)/2].Round(time.Millisecond).String(), target: "< 300 ms",
			met: took[len(took)/2] < 300*time.Millisecond},
		{what: "idle memory", value: fmt.Sprintf("%.0f MB", mb), target: "< 60 MB", met: mb < 60},
		{what: "a daemon at rest is switched to, in all threads", value: fmt.Sprintf("%.1f times a second", woken)},
		{what: "size of the program", value: fmt.Sprintf("%.1f MB", float64(info.Size())/1e6)},
	}
	return s, p.stop()
}
