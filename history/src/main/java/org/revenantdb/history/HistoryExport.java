package org.revenantdb.history;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.io.Writer;
import java.nio.file.Files;
import java.nio.file.Path;

/**
 * A folder of histories for a second opinion. Each history has two files, because each of Elle's
 * checkers knows one workload: {@code NAME.list-append.edn} with the lists and {@code
 * NAME.rw-register.edn} with the registers.
 *
 * <p>Threads: one.
 */
public final class HistoryExport {

  private final Path directory;
  private int files;

  /**
   * Creates an export.
   *
   * @param directory is created with the first history
   */
  public HistoryExport(Path directory) {
    this.directory = directory;
  }

  /**
   * Writes a history, replacing one of the same name.
   *
   * @param name of the files, without an ending
   * @param history the history
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
   * Returns the number of files and the directory.
   *
   * @return a short text
   */
  @Override
  public String toString() {
    return files + " files in " + directory;
  }
}
