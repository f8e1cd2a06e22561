# Boots the machine's own systemd in the namespaces it is run in: on a copy of / that is gone with them, without a network.
# $1: an empty folder. $2: the program that is put into the machine's path.
mount --make-rprivate /
mount -t tmpfs tmpfs "$1"
mkdir -p "$1/over/usr/local/bin" "$1/work" "$1/root"
cp "$2" "$1/over/usr/local/bin/tandem"
mount -t overlay overlay -o "lowerdir=/,upperdir=$1/over,workdir=$1/work" "$1/root"
cd "$1/root"
ip link set lo up
mount -t proc proc proc
mount -t tmpfs tmpfs run
mount -t tmpfs tmpfs tmp
mount --rbind /dev dev
mount -t sysfs sysfs sys
mount -t cgroup2 cgroup2 sys/fs/cgroup
pivot_root . mnt
umount -l /mnt
exec env -i container=tandem PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin /lib/systemd/systemd --system --unit=basic.target
