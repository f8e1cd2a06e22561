# One machine serves a repository, another works in it.
machines your-server laptop
your-server$ mkdir -p ~/code/app && cd ~/code/app && git init -q && echo one >f && git add f && git -c user.name=P -c user.email=p@x.org commit -qm first && cd
your-server$ tandem pin set
your-server> tandem up --repo ~/code/app --listen 0.0.0.0:13013    # prints the line that the first other machine types
  shows tandem init --tandem-server=10.99.2.1:13013#
laptop> tandem init --tandem-server your-server:13013 ~/work  # there; without an invitation a person on the server is asked
  when waiting until: your-server$ tandem approvals approve
laptop> cd ~/work
laptop> tandem new -m "a change"; tandem log                  # everybody's commits, and where everybody is
  shows first
  shows a change
