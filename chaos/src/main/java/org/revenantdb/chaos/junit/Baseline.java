package org.revenantdb.chaos.junit;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.channels.Channels;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import org.revenantdb.chaos.run.KnownFailures;

/**
 * A text file of failures that crash tests accept. Each line is one root cause of one test: {@code
 * class | test | place & place}. A line that begins with {@code #} is a comment.
 *
 * <p>Threads: any. Several JVMs may add lines to one file.
 *
 * @param file need not exist
 * @param learns whether what is not in the file is added to it instead of failing the test
 */
record Baseline(Path file, boolean learns) {

  private static final String HEAD =
      """
      # Failures that the crash tests of this project accept. New ones fail the build.
      # class | test | what has to be lost, or what is thrown or found, and the methods it comes from
      # Written with -Drevenant.chaos.baseline.write=true. Delete the line of a failure that is mended.
      """;

  private static final Object IN_THIS_JVM = new Object();
  private static final String PARTS = " | ";
  private static final String PLACES = " & ";

  /** In lines that were written when a name still had it, between the crash and the files. */
  private static final String FORMER = ", every boundary";

  /** One line. */
  private record Line(String type, String test, Set<String> cause) {

    Line {
      cause = new TreeSet<>(cause); // the order of the places
    }

    static Line parse(String text, String where) {
      List<String> parts = List.of(text.strip().split(" \\| ", -1));
      if (parts.size() != 3 || parts.stream().anyMatch(String::isBlank)) {
        throw new IllegalArgumentException(
            where + ": a line is \"class | test | place & place\"; delete it and write it anew");
      }
      return new Line(
          parts.get(0),
          parts.get(1).replace(FORMER, ""),
          new TreeSet<>(List.of(parts.get(2).split(PLACES))));
    }

    @Override
    public String toString() {
      return type + PARTS + test + PARTS + String.join(PLACES, cause);
    }
  }

  /**
   * Returns the known failures of a test.
   *
   * @throws IllegalArgumentException if the file has another form
   */
  KnownFailures of(Class<?> type, String test) {
    return KnownFailures.of(
        lines().stream()
            .filter(line -> line.type.equals(type.getName()) && line.test.equals(test))
            .map(Line::cause)
            .toList(),
        learns);
  }

  /**
   * Checks that the file can be read.
   *
   * @throws IllegalArgumentException if it has another form
   */
  void check() {
    var _ = lines();
  }

  private List<Line> lines() {
    try {
      return Files.isRegularFile(file) ? parse(Files.readString(file)) : List.of();
    } catch (IOException e) {
      throw new IllegalArgumentException("baseline " + file + " cannot be read: " + e, e);
    }
  }

  private List<Line> parse(String text) {
    List<Line> lines = new ArrayList<>();
    int number = 0;
    for (String line : text.lines().toList()) {
      number++;
      if (!line.isBlank() && !line.strip().startsWith("#")) {
        lines.add(Line.parse(line, file + ":" + number));
      }
    }
    return lines;
  }

  /** Adds the causes of a test that the file does not have, behind all others. */
  void add(Class<?> type, String test, List<Set<String>> causes) {
    if (causes.isEmpty()) {
      return;
    }
    synchronized (IN_THIS_JVM) { // a second lock of one JVM would be refused
      try {
        Path folder = file.toAbsolutePath().getParent();
        if (folder != null) {
          Files.createDirectories(folder);
        }
        try (FileChannel channel =
                FileChannel.open(
                    file,
                    StandardOpenOption.CREATE,
                    StandardOpenOption.READ,
                    StandardOpenOption.WRITE);
            FileLock _ = channel.lock()) {
          String text =
              new String(Channels.newInputStream(channel).readAllBytes(), StandardCharsets.UTF_8);
          List<Line> known = parse(text);
          StringBuilder more = new StringBuilder(text.isEmpty() ? HEAD : "");
          more.append(text.isEmpty() || text.endsWith("\n") ? "" : "\n");
          for (Set<String> cause : causes) {
            Line line = new Line(type.getName(), test, cause);
            if (!known.contains(line)) {
              more.append(line).append('\n');
            }
          }
          ByteBuffer bytes = StandardCharsets.UTF_8.encode(more.toString());
          for (long at = channel.size(); bytes.hasRemaining(); ) {
            at += channel.write(bytes, at);
          }
        }
      } catch (IOException e) {
        throw new UncheckedIOException("baseline " + file + " cannot be written", e);
      }
    }
  }

  /** The line of a cause, as in the file. */
  static String line(Set<String> cause) {
    return String.join(PLACES, new TreeSet<>(cause));
  }
}
