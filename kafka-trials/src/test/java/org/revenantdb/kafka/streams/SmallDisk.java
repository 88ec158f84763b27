package org.revenantdb.kafka.streams;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.List;
import org.junit.jupiter.api.Assumptions;

/**
 * A file system of a few megabytes, in memory. Only processes see it that are started by its {@link
 * #command}, in a namespace of their own. It is gone when the process ends that holds it, which
 * ends with this one. No privileges are needed where a user may have namespaces.
 *
 * <p>Threads: one.
 */
final class SmallDisk implements AutoCloseable {
  private static final int CHUNK = 1 << 16;
  private static final String FILLER = "filler";

  private final Process holder;
  private final Path place;

  /**
   * Mounts one; where that is not possible the test is skipped.
   *
   * @param place an empty directory
   */
  SmallDisk(Path place, int megabytes) throws IOException {
    this.place = place;
    ProcessBuilder builder =
        new ProcessBuilder(
            "unshare",
            "--user",
            "--map-root-user",
            "--mount",
            "sh",
            "-c",
            "mount -t tmpfs -o size=$1m small \"$2\" && command -v nsenter && echo UP && read -r _",
            "sh",
            Integer.toString(megabytes),
            place.toString());
    builder.redirectErrorStream(true);
    Process started;
    try {
      started = builder.start();
    } catch (IOException none) {
      Assumptions.abort("NO SMALL DISK: this machine has no command unshare: " + none);
      throw none;
    }
    holder = started;
    StringBuilder said = new StringBuilder();
    BufferedReader lines = holder.inputReader(StandardCharsets.UTF_8);
    for (String line = lines.readLine(); !"UP".equals(line); line = lines.readLine()) {
      if (line == null) {
        holder.destroyForcibly();
        Assumptions.abort("NO SMALL DISK: a file system cannot be mounted here: " + said);
      }
      said.append(line).append('\n');
    }
  }

  /** Becomes a process that sees it. */
  List<String> command() {
    return List.of(
        "nsenter",
        "--target",
        Long.toString(holder.pid()),
        "--user",
        "--preserve-credentials",
        "--mount");
  }

  /** Where those processes see it. */
  Path place() {
    return place;
  }

  /** Where this process sees it. */
  Path path() {
    return Path.of("/proc", Long.toString(holder.pid()), "root", place.toString());
  }

  /**
   * Takes its space.
   *
   * @param left bytes that are left, about
   */
  void fill(long left) throws IOException {
    try (OutputStream filler =
        Files.newOutputStream(
            path().resolve(FILLER), StandardOpenOption.CREATE, StandardOpenOption.APPEND)) {
      for (byte[] chunk = new byte[CHUNK];
          left == 0 || Files.getFileStore(path()).getUsableSpace() > left; ) {
        filler.write(chunk);
      }
    } catch (IOException full) {
      if (Files.getFileStore(path()).getUsableSpace() > CHUNK) {
        throw full; // of another kind
      }
    }
  }

  boolean isFilled() {
    return Files.exists(path().resolve(FILLER));
  }

  /** Gives the space back that was taken. */
  void makeRoom() throws IOException {
    Files.deleteIfExists(path().resolve(FILLER));
  }

  @Override
  public void close() {
    holder.destroyForcibly();
    holder.onExit().join();
  }
}
