# Code work from a task to a merged change, with a scripted model where the provider is. Its first file waits for an answer.
machines laptop
laptop$ mkdir -p code/app; cd code/app && git init -q -b main && printf 'test:\n\tgrep -q /home redirect.txt\n' >Makefile && printf 'module app\n\ngo 1.26\n' >go.mod && printf 'package app\n' >app.go && git add . && git -c user.name=me -c user.email=me@example.org commit -qm first
laptop$ tandem pin set; tandem provider key anthropic
  type 482913
  type 482913
  type sk-ant-0123456789
  type y
laptop$ tandem grant folder ~/code/app
laptop> tandem job start "fix the login redirect" -C ~/code/app --check "make test"    # in a git checkout, in a folder that you granted
  shows is working
let job_01j… laptop$ tandem job list --json | grep -o 'job_[a-z0-9]*' | head -1
laptop> tandem job wait job_01j…                              # until it needs you: an answer to its agent, or a look
  shows its agent waits for you: tool.write
  shows tandem approvals approve ask_
  exit 8
laptop$ tandem approvals approve
laptop$ tandem job wait job_01j…
  shows is in review
  shows check 1: green
laptop> tandem job diff job_01j…                              # what it changed, and the line that merges exactly that
  shows +/home
  shows merge this: tandem job merge
let 4f2a… laptop$ tandem job show job_01j… --json | grep -o '"commit": *"[0-9a-f]*"' | grep -o '[0-9a-f]\{40\}' | head -1
laptop> tandem job diff job_01j… --since-look
  shows nothing of the text is another
laptop> tandem job diff job_01j… --looked
  shows merge this: tandem job merge
laptop> tandem job diff job_01j… --side-by-side --no-blanks
  shows see all of it: tandem job diff
laptop> tandem job diff job_01j… --commits
  shows (your last look)
laptop> tandem job diff job_01j… --commit 4f2a…
  shows +/home
laptop> tandem job diff job_01j… --stack
  shows merge this: tandem job merge
laptop> tandem job merge job_01j… --commit 4f2a…              # only you can say so (PIN)
  shows is merged
# The same from inside the folder, as docs/job.md tells it, and a second one through the queue of a branch that is checked out nowhere.
laptop$ cd ~/code/app && git checkout -q -b other
laptop> tandem grant folder .
laptop> tandem job start "fix the login redirect" --check "go test ./..."
  shows is working
let job_01j… laptop$ tandem job list --state working --json | grep -o 'job_[a-z0-9]*' | head -1
laptop> tandem job wait job_01j…
  exit 8
laptop$ tandem approvals approve
laptop$ tandem job wait job_01j…
  within 5m
  shows is in review
laptop> tandem job diff job_01j…
let 4f2a… laptop$ tandem job show job_01j… --json | grep -o '"commit": *"[0-9a-f]*"' | grep -o '[0-9a-f]\{40\}' | head -1
laptop> tandem job merge job_01j… --commit 4f2a…
  shows is merged
laptop$ tandem job start "fix the login redirect" --check "grep -q home redirect.txt"
let job_01j… laptop$ tandem job list --state working --json | grep -o 'job_[a-z0-9]*' | head -1
laptop$ tandem job wait job_01j…
  exit 8
laptop$ tandem approvals approve
laptop$ tandem job wait job_01j…
let 4f2a… laptop$ tandem job show job_01j… --json | grep -o '"commit": *"[0-9a-f]*"' | grep -o '[0-9a-f]\{40\}' | head -1
laptop> git switch --detach
laptop> tandem queue add job_01j… --commit 4f2a…
laptop> tandem queue
