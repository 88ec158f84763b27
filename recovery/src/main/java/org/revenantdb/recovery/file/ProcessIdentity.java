package org.revenantdb.recovery.file;

import java.io.IOException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * Identifies a process in a way that another process can compare. A pid alone is not enough: it is
 * reused, and it denotes another process in another container, on another host, or after a reboot.
 *
 * @param pid the process id, -1 if it is not known
 * @param started when the process started, ISO 8601 in UTC, empty if not known
 * @param ticks the start time in clock ticks since the boot, as {@code /proc/PID/stat} has it;
 *     empty if there is no such file
 * @param host the name of the host, empty if not known
 * @param boot the random id that Linux draws at each boot, empty elsewhere
 * @param space the namespace that the pid belongs to, empty if there are none
 */
record ProcessIdentity(
    long pid, String started, String ticks, String host, String boot, String space) {
  /*
   * Why ticks      Two JVMs can compute different start instants of one process: each adds the ticks to the time of the
   *                boot, and that moves when the clock is set. The ticks themselves never change.
   * Why a zombie   A killed process whose parent has not collected it still has an entry in /proc, but no open files.
   *                If only
   *   is dead      the first thread has ended, the process lives on: then it has more than one task.
   */

  /** Whether a process runs, as seen by this process. */
  enum Life {
    /** It runs. */
    ALIVE,
    /** It does not run. */
    DEAD,
    /** It belongs to another host, another boot or another container: it is not visible. */
    NOT_VISIBLE
  }

  private static final Path PROC = Path.of("/proc");

  /** The index of the start time among the fields after the name. */
  private static final int START_FIELD = 19;

  /** This process. It is determined once, because that needs calls to the system. */
  private static final class Me {
    static final ProcessIdentity IDENTITY = ofThisProcess();
  }

  static ProcessIdentity me() {
    return Me.IDENTITY;
  }

  private static ProcessIdentity ofThisProcess() {
    ProcessHandle process = ProcessHandle.current();
    return new ProcessIdentity(
        process.pid(),
        started(process),
        ticks(process.pid()),
        hostName(),
        read(PROC.resolve("sys/kernel/random/boot_id")),
        link(PROC.resolve("self/ns/pid")));
  }

  private static String hostName() {
    String name = read(PROC.resolve("sys/kernel/hostname"));
    for (String variable : new String[] {"HOSTNAME", "COMPUTERNAME"}) {
      if (name.isEmpty()) {
        @Nullable String value = System.getenv(variable);
        name = value == null ? "" : value.strip();
      }
    }
    return name;
  }

  private static String started(ProcessHandle process) {
    Optional<Instant> start = process.info().startInstant();
    return start.isPresent() ? LockText.text(start.get()) : "";
  }

  private static String read(Path file) {
    try {
      return Files.readString(file).strip();
    } catch (IOException | RuntimeException missing) {
      return "";
    }
  }

  private static String link(Path file) {
    try {
      return Files.readSymbolicLink(file).toString();
    } catch (IOException | RuntimeException missing) {
      return "";
    }
  }

  /** The fields of /proc/PID/stat after the name; the name may contain any characters. */
  private static String[] stat(long pid) {
    String line = read(PROC.resolve(pid + "/stat"));
    int end = line.lastIndexOf(')');
    return end < 0 ? new String[0] : line.substring(end + 1).strip().split(" ");
  }

  private static String ticks(long pid) {
    String[] fields = stat(pid);
    return fields.length > START_FIELD ? fields[START_FIELD] : "";
  }

  private static boolean isZombie(long pid) {
    String[] fields = stat(pid);
    return fields.length > 0 && (fields[0].equals("Z") || fields[0].equals("X")) && tasks(pid) < 2;
  }

  private static int tasks(long pid) {
    int tasks = 0;
    try (DirectoryStream<Path> entries = Files.newDirectoryStream(PROC.resolve(pid + "/task"))) {
      for (Path _ : entries) {
        tasks++;
      }
    } catch (IOException | RuntimeException gone) {
      return tasks;
    }
    return tasks;
  }

  /** Whether this is the calling process. */
  boolean isMe() {
    return isHere() && pid == me().pid && isSameStart(me().ticks, me().started);
  }

  /** Whether it ran here since the last boot: then devices have kept their numbers, as a rule. */
  boolean isOfThisBoot() {
    return pid > 0 && isHere();
  }

  /** Whether its pid is valid in this process's view. */
  private boolean isHere() {
    boolean sameSystem = boot.isEmpty() ? host.equals(me().host) : true;
    return sameSystem && boot.equals(me().boot) && space.equals(me().space);
  }

  /** Whether it runs. If only the pid can be compared, an equal pid counts as the same process. */
  Life life() {
    if (pid <= 0) {
      return Life.DEAD;
    }
    if (!isHere()) {
      return Life.NOT_VISIBLE;
    }
    Optional<ProcessHandle> process = ProcessHandle.of(pid);
    if (process.isEmpty() || !process.get().isAlive() || isZombie(pid)) {
      return Life.DEAD;
    }
    return isSameStart(ticks(pid), started(process.get())) ? Life.ALIVE : Life.DEAD;
  }

  private boolean isSameStart(String otherTicks, String otherStarted) {
    if (!ticks.isEmpty() && !otherTicks.isEmpty()) {
      return ticks.equals(otherTicks);
    }
    return started.isEmpty() || otherStarted.isEmpty() || started.equals(otherStarted);
  }

  /** The process in words, for the middle of a sentence. */
  String described() {
    return "process "
        + pid
        + (started.isEmpty() ? "" : ", started " + LockText.shown(started))
        + (host.isEmpty() ? "" : ", on host " + host);
  }
}
