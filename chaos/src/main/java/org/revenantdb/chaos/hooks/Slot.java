package org.revenantdb.chaos.hooks;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.charset.StandardCharsets;

/** What a thread needs in its hooks, allocated once. */
final class Slot {

  /** Larger than any path that a system call accepts. */
  static final int PATH = 8192;

  private static final byte[] PROC = "/proc/self/fd/".getBytes(StandardCharsets.US_ASCII);
  private static final int AT_FDCWD = -100;
  static final boolean ARM = System.getProperty("os.arch").equals("aarch64");

  final MemorySegment errno = Arena.global().allocate(Long.BYTES, Long.BYTES);
  final long stat = Arena.global().allocate(256, Long.BYTES).address();
  private final long link = Arena.global().allocate(PATH).address();
  private final long proc = Arena.global().allocate(64).address();
  private final byte[] cwd;

  /** The paths of a call, absolute and without dots. */
  final byte[] first = new byte[PATH];

  final byte[] second = new byte[PATH];
  int firstLength;
  int secondLength;

  /** Whether the thread is in a hook, so that what it does now is our own doing. */
  boolean inside;

  int thread;
  int stack;

  // The state of the current call.
  long record;
  long offset;
  long length;

  /** A short write writes so many bytes; none if the call cannot have one. */
  long half;

  /** The memory of the program that is written first. */
  long data;

  boolean direct;
  long before;
  long since;
  boolean existed;
  boolean clean;

  Slot() {
    cwd = System.getProperty("user.dir").getBytes(StandardCharsets.UTF_8);
  }

  /** Remembers errno for the caller of the hook. */
  int errno() {
    return errno.get(JAVA_INT, 0);
  }

  long device() {
    return Libc.ALL.get(JAVA_LONG, stat);
  }

  long inode() {
    return Libc.ALL.get(JAVA_LONG, stat + 8);
  }

  private int mode() {
    return Libc.ALL.get(JAVA_INT, stat + (ARM ? 16 : 24));
  }

  boolean isFile() {
    return (mode() & 0170000) == 0100000;
  }

  boolean isDirectory() {
    return (mode() & 0170000) == 0040000;
  }

  long size() {
    return Libc.ALL.get(JAVA_LONG, stat + 48);
  }

  /** Makes a path absolute, into {@link #first} or {@link #second}. Returns its length. */
  int absolute(int directory, long path, byte[] into) throws Throwable {
    int length = 0;
    if (Libc.ALL.get(JAVA_BYTE, path) != '/') {
      if (directory == AT_FDCWD) {
        System.arraycopy(cwd, 0, into, 0, cwd.length);
        length = cwd.length;
      } else {
        length = (int) readLink(directory);
        MemorySegment.copy(Libc.ALL, JAVA_BYTE, link, into, 0, length);
      }
      into[length++] = '/';
    }
    for (long at = path; ; at++) {
      byte b = Libc.ALL.get(JAVA_BYTE, at);
      if (b == 0) {
        break;
      }
      into[length++] = b; // too long a path: an exception, and the call is counted as lost
    }
    return normal(into, length);
  }

  private long readLink(int fd) throws Throwable {
    name(fd);
    long length = Libc.readlink(proc, link, PATH);
    if (length < 0) {
      throw new IllegalStateException();
    }
    return length;
  }

  /** Looks up an absolute path; the result is in {@link #stat}. */
  boolean exists(byte[] path, int length) throws Throwable {
    return Libc.lstat(copied(path, length), stat) == 0;
  }

  /** Opens an absolute path to read it. */
  int opened(byte[] path, int length) throws Throwable {
    return Libc.openToRead(copied(path, length));
  }

  private long copied(byte[] path, int length) {
    MemorySegment.copy(path, 0, Libc.ALL, JAVA_BYTE, link, length);
    Libc.ALL.set(JAVA_BYTE, link + length, (byte) 0);
    return link;
  }

  /** Opens the file of a descriptor once more, to read it. */
  int reopened(int fd) throws Throwable {
    name(fd);
    return Libc.openToRead(proc);
  }

  private void name(int fd) {
    long at = proc;
    for (int i = 0; i < PROC.length; i++) {
      Libc.ALL.set(JAVA_BYTE, at++, PROC[i]);
    }
    int digits = 1;
    for (int i = fd; i >= 10; i /= 10) {
      digits++;
    }
    Libc.ALL.set(JAVA_BYTE, at + digits, (byte) 0);
    for (int i = digits - 1, left = fd; i >= 0; i--, left /= 10) {
      Libc.ALL.set(JAVA_BYTE, at + i, (byte) ('0' + left % 10));
    }
  }

  /** Removes empty names and dots, and resolves double dots. */
  static int normal(byte[] path, int length) {
    int out = 0;
    int at = 0;
    while (at < length) {
      while (at < length && path[at] == '/') {
        at++;
      }
      int begin = at;
      while (at < length && path[at] != '/') {
        at++;
      }
      int size = at - begin;
      if (size == 0 || (size == 1 && path[begin] == '.')) {
        continue;
      }
      if (size == 2 && path[begin] == '.' && path[begin + 1] == '.') {
        while (out > 0 && path[--out] != '/') {
          // Back over the last name.
        }
        continue;
      }
      path[out++] = '/';
      System.arraycopy(path, begin, path, out, size);
      out += size;
    }
    return out;
  }
}
