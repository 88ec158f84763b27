package org.revenantdb.chaos.history;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.io.Writer;
import java.nio.file.Files;
import java.nio.file.Path;

/**
 * A folder of histories for a second opinion. Each is two files, one of the lists and one of the
 * registers, as each of Elle's checkers knows one of them: {@code NAME.list-append.edn} and {@code
 * NAME.rw-register.edn}.
 *
 * <p>Threads: one.
 */
public final class HistoryExport {

  private final Path directory;
  private int files;

  /**
   * Prepares it.
   *
   * @param directory is made with the first history
   */
  public HistoryExport(Path directory) {
    this.directory = directory;
  }

  /**
   * Writes a history, over one of the same name.
   *
   * @param name of the files, without an ending
   * @param history what happened
   */
  public void write(String name, History history) {
    write(name + ".list-append.edn", history, EdnWriter.Part.LISTS);
    write(name + ".rw-register.edn", history, EdnWriter.Part.REGISTERS);
  }

  private void write(String name, History history, EdnWriter.Part part) {
    try (Writer out = Files.newBufferedWriter(Files.createDirectories(directory).resolve(name))) {
      EdnWriter.write(history, part, out);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    files++;
  }

  /**
   * How many files were written, and where.
   *
   * @return some words
   */
  @Override
  public String toString() {
    return files + " files in " + directory;
  }
}
