package org.revenantdb.recovery.file;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.time.DateTimeException;
import java.time.Instant;
import java.time.LocalDateTime;
import java.time.ZoneOffset;
import java.time.temporal.ChronoUnit;
import java.util.Arrays;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;

/**
 * The text of the lock file, which names the process that has the database open. It has lines
 * {@code name=value}, each of which may be missing or wrong.
 *
 * @param owner the process
 * @param since when it took the lock, ISO 8601 in UTC, empty if not known
 * @param file the identity of the lock file to which the text was written; a copy of the lock file
 *     has another identity
 * @param token differs between any two openings
 */
record LockText(ProcessIdentity owner, String since, String file, String token) {
  private static final int LONGEST = 4096;

  private static final AtomicLong OPENINGS = new AtomicLong();

  /** The text of a new opening by this process. */
  static LockText mine(String file) {
    return new LockText(ProcessIdentity.me(), now(), file, newToken());
  }

  /** The current time, as in all messages: seconds, UTC. */
  static String now() {
    return text(Instant.now().truncatedTo(ChronoUnit.SECONDS));
  }

  /**
   * What {@link Instant#toString} returns. Its first use makes formatters of all kinds, which takes
   * a fresh JVM many milliseconds; so an open does without.
   */
  static String text(Instant time) {
    LocalDateTime inUtc =
        LocalDateTime.ofEpochSecond(time.getEpochSecond(), time.getNano(), ZoneOffset.UTC);
    boolean lacksSeconds = inUtc.getSecond() == 0 && inUtc.getNano() == 0;
    return inUtc + (lacksSeconds ? ":00Z" : "Z");
  }

  /**
   * A text that no other opening has: the time, this copy of the library, the number of the opening
   * in it. It distinguishes openings and is not secret. Other processes differ in the rest of the
   * text. So it needs no secure random numbers, whose first use takes 30 ms.
   */
  static String newToken() {
    return Long.toHexString(System.currentTimeMillis())
        + "-"
        + Long.toHexString(System.nanoTime())
        + "-"
        + Integer.toHexString(System.identityHashCode(LockText.class))
        + "-"
        + OPENINGS.incrementAndGet();
  }

  /** Formats a time as in all messages: seconds, UTC. */
  static String shown(String instant) {
    try {
      return Instant.parse(instant).truncatedTo(ChronoUnit.SECONDS).toString();
    } catch (DateTimeException notOne) {
      return instant;
    }
  }

  byte[] bytes() {
    return ("pid="
            + owner.pid()
            + "\nstarted="
            + owner.started()
            + "\nsince="
            + since
            + "\nhost="
            + owner.host()
            + "\nticks="
            + owner.ticks()
            + "\nboot="
            + owner.boot()
            + "\nspace="
            + owner.space()
            + "\nfile="
            + file
            + "\ntoken="
            + token
            + "\n")
        .getBytes(StandardCharsets.UTF_8);
  }

  /** Replaces the content of a file. */
  static void write(FileChannel channel, byte[] content) throws IOException {
    ByteBuffer bytes = ByteBuffer.wrap(content);
    while (bytes.hasRemaining()) {
      channel.write(bytes, bytes.position());
    }
    channel.truncate(content.length);
  }

  /** The content of a file, up to the greatest length of a lock text. */
  static byte[] read(FileChannel channel) throws IOException {
    ByteBuffer bytes = ByteBuffer.allocate(LONGEST);
    while (bytes.hasRemaining() && channel.read(bytes, bytes.position()) >= 0) {
      // Reads until the text or the buffer ends.
    }
    return Arrays.copyOf(bytes.array(), bytes.position());
  }

  static LockText parse(byte[] content) {
    Map<String, String> lines = new HashMap<>();
    String text = new String(content, StandardCharsets.UTF_8);
    for (String line : text.split("\n", -1)) {
      int equals = line.indexOf('=');
      if (equals > 0) {
        lines.put(line.substring(0, equals), line.substring(equals + 1));
      }
    }
    return new LockText(
        new ProcessIdentity(
            number(lines.get("pid")),
            lines.getOrDefault("started", ""),
            lines.getOrDefault("ticks", ""),
            lines.getOrDefault("host", ""),
            lines.getOrDefault("boot", ""),
            lines.getOrDefault("space", "")),
        lines.getOrDefault("since", ""),
        lines.getOrDefault("file", ""),
        lines.getOrDefault("token", ""));
  }

  private static long number(@Nullable String text) {
    try {
      return text == null ? -1 : Long.parseLong(text);
    } catch (NumberFormatException notOne) {
      return -1;
    }
  }

  /** Whether another process that runs on this host holds the file of this identity. */
  boolean namesALiveOwnerOf(String lockFile) {
    return file.equals(lockFile) && !owner.isMe() && owner.life() == ProcessIdentity.Life.ALIVE;
  }

  /**
   * Whether a process held the lock file from which this text was copied. After a boot, or on
   * another host, the same file may have another identity, so nothing is known there.
   */
  boolean isOfOtherThan(String lockFile) {
    return owner.isOfThisBoot() && !file.isEmpty() && !file.equals(lockFile);
  }

  /** The owner in words, for the message to an opener that the system's lock has refused. */
  String described() {
    if (owner.pid() < 0) {
      return "its identity is unknown; it may be a reader";
    }
    String who = owner.described() + (since.isEmpty() ? "" : ", since " + shown(since));
    return owner.life() == ProcessIdentity.Life.ALIVE
        ? who
        : "the last process that wrote the lock file was " + who + ", not visible from here";
  }
}
