# The first five minutes: a clone of the sources, and make up. What the go command has built before it need not build again.
machines laptop
laptop$ rm ~/.local/bin/tandem; mkdir tandem; cd /home/checkout && git ls-files -z | xargs -0 cp --parents -t ~/tandem; cd ~/tandem
laptop> make up      # needs Go 1.26 and git: builds, starts, prints the panel's address, the MCP connector and what to do next
  within 5m
  shows tandem is running
  shows signin?code=
  shows "mcpServers"
  shows pin set
not run: it is what runs this: make test    # installs what the tests drive, and runs all of them
laptop> bin/tandem status                # is it running, and where
  shows Listen: 127.0.0.1:39731
  shows Panel: http://t-….localhost:39731
laptop> bin/tandem pin set               # prove that you are a person: asked for whenever somebody must decide
laptop> bin/tandem run "say hello"       # works on a fresh machine: the built-in model needs no key
  type n
  shows local/echo-1 answers
  shows say hello
laptop> bin/tandem audit log             # what happened, in order
  shows session.prompt
laptop> bin/tandem audit verify          # and that nobody changed it
laptop> make install                     # puts it in ~/.local/bin, so that tandem alone works
  within 5m
laptop$ tandem status
