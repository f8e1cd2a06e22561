/* Sets TCP_NODELAY on every connection that a server accepts, for a program that
   forgets to: preloaded into the seed's server so that it is also measured
   without that flaw. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

static int at_once(int fd)
{
	int on = 1;
	if (fd >= 0)
		setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
	return fd;
}

int accept4(int fd, struct sockaddr *addr, socklen_t *len, int flags)
{
	int (*real)(int, struct sockaddr *, socklen_t *, int) = dlsym(RTLD_NEXT, "accept4");
	return at_once(real(fd, addr, len, flags));
}

int accept(int fd, struct sockaddr *addr, socklen_t *len)
{
	int (*real)(int, struct sockaddr *, socklen_t *) = dlsym(RTLD_NEXT, "accept");
	return at_once(real(fd, addr, len));
}
