# Several agents on one goal, with a scripted model where the provider is: its lead plans one task, which becomes a job.
machines laptop
laptop$ mkdir -p code/app; cd code/app && git init -q -b main && printf 'test:\n\tgrep -q /home redirect.txt\n' >Makefile && git add . && git -c user.name=me -c user.email=me@example.org commit -qm first
laptop$ tandem pin set; tandem provider key anthropic
  type 482913
  type 482913
  type sk-ant-0123456789
  type y
laptop$ tandem grant folder ~/code/app
laptop$ cd ~/code/app
laptop> git switch --detach
laptop> tandem team start "people end up where they wanted to go" --onto main --agents 2 --check "make test"
  shows is planning
let team_01j… laptop$ tandem team list --json | grep -o 'team_[a-z0-9]*' | head -1
laptop> tandem team wait team_01j…
  shows is plan waits
laptop> tandem team plan team_01j…
  shows fix the login redirect
laptop> tandem team approve team_01j… --plan 1
  shows is working
laptop$ tandem team wait team_01j…
  shows waits for your answer: tandem approvals approve ask_
laptop$ until tandem job wait $(tandem job list --json | grep -o 'job_[a-z0-9]*' | head -1); do tandem approvals approve; done
laptop> tandem team wait team_01j…
  shows in review
laptop> tandem team show team_01j…
  shows waits for you: tandem job diff job_
