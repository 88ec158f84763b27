package org.revenantdb.jmh.recovery;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.MappedByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import org.revenantdb.jmh.fork.Told;

/**
 * The state that a process saw when it killed itself, in a mapped file, which survives it. Printing
 * it first would take as long as other sessions need to write megabytes of log.
 */
final class LastWords {
  private static final String[] NAMES = {"log_at_kill", "pages_at_kill", "log_peak_over_bound"};

  private final MappedByteBuffer words;

  private LastWords(MappedByteBuffer words) {
    this.words = words;
  }

  /** For a process that works in the given directory; they are in a file beside it. */
  static LastWords beside(Path directory) {
    Path file = directory.resolveSibling("last-words");
    try (FileChannel channel =
        FileChannel.open(
            file, StandardOpenOption.CREATE, StandardOpenOption.READ, StandardOpenOption.WRITE)) {
      long length = (long) NAMES.length * Double.BYTES;
      return new LastWords(channel.map(FileChannel.MapMode.READ_WRITE, 0, length));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** The share of the log and the pages that a restart may find, and the log's highest share. */
  void leave(double log, double pages, double peak) {
    words.putDouble(0, log).putDouble(Double.BYTES, pages).putDouble(2 * Double.BYTES, peak);
  }

  /** The share of the log that was left. */
  double log() {
    return words.getDouble(0);
  }

  /** Prints {@code = log_at_kill}, {@code = pages_at_kill} and {@code = log_peak_over_bound}. */
  void tell() {
    for (int i = 0; i < NAMES.length; i++) {
      Told.tell(NAMES[i], words.getDouble(i * Double.BYTES));
    }
  }
}
