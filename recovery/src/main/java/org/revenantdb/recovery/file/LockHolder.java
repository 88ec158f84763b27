package org.revenantdb.recovery.file;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * Who holds a lock, as it stands in the lock file: three lines {@code pid=}, {@code started=} and
 * {@code since=}, each of which may be missing or wrong, for the text is only an aid.
 *
 * @param pid the process id, -1 if not known
 * @param started when that process started, empty if not known
 * @param since when it took the lock, empty if not known
 */
record LockHolder(long pid, String started, String since) {
  private static final int LONGEST = 1024;

  /** This process; asked once, because the system has to be asked. */
  private static final class Me {
    static final long PID = ProcessHandle.current().pid();
    static final String STARTED = started(ProcessHandle.current());
  }

  static LockHolder me() {
    return new LockHolder(Me.PID, Me.STARTED, Instant.now().toString());
  }

  private static String started(ProcessHandle process) {
    return process.info().startInstant().map(Instant::toString).orElse("");
  }

  void write(FileChannel channel) throws IOException {
    String text = "pid=" + pid + "\nstarted=" + started + "\nsince=" + since + "\n";
    channel.truncate(0);
    ByteBuffer bytes = ByteBuffer.wrap(text.getBytes(StandardCharsets.UTF_8));
    while (bytes.hasRemaining()) {
      channel.write(bytes, bytes.position());
    }
  }

  static LockHolder read(FileChannel channel) {
    ByteBuffer bytes = ByteBuffer.allocate(LONGEST);
    try {
      while (bytes.hasRemaining() && channel.read(bytes, bytes.position()) >= 0) {
        // Until the text or the buffer ends.
      }
    } catch (IOException unreadable) {
      // Nothing is known then.
    }
    Map<String, String> lines = new HashMap<>();
    String text = new String(bytes.array(), 0, bytes.position(), StandardCharsets.UTF_8);
    for (String line : (Iterable<String>) text.lines()::iterator) {
      int equals = line.indexOf('=');
      if (equals > 0) {
        lines.put(line.substring(0, equals), line.substring(equals + 1));
      }
    }
    return new LockHolder(
        number(lines.get("pid")),
        lines.getOrDefault("started", ""),
        lines.getOrDefault("since", ""));
  }

  private static long number(@Nullable String text) {
    try {
      return text == null ? -1 : Long.parseLong(text);
    } catch (NumberFormatException notOne) {
      return -1;
    }
  }

  /** In words; a text that a killed holder left behind is not taken for the truth. */
  String described() {
    if (pid < 0) {
      return "it is not known which, perhaps one that only reads";
    }
    String who =
        "process "
            + pid
            + (started.isEmpty() ? "" : ", started " + started)
            + (since.isEmpty() ? "" : ", since " + since);
    return isAlive() ? who : "the last that wrote its name was " + who + ", not visible from here";
  }

  private boolean isAlive() {
    Optional<ProcessHandle> process = ProcessHandle.of(pid);
    return process.isPresent() && (started.isEmpty() || started.equals(started(process.get())));
  }
}
