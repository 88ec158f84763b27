package org.revenantdb.engine.cli;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.ParameterException;

/** The file of {@code --json}. */
final class JsonFile {
  private JsonFile() {}

  /** Refuses a file that cannot be written, before the work begins. */
  static void demandWritable(CommandSpec spec, Path file) {
    Path folder = file.toAbsolutePath().getParent();
    String why = null;
    if (folder == null || Files.isDirectory(file)) {
      why = "it is a directory; choose a file";
    } else {
      try {
        // According to the system, a superuser may write anywhere; so it is tried.
        Files.delete(Files.createTempFile(folder, ".revenant", ".tmp"));
        if (Files.exists(file) && !Files.isWritable(file)) {
          why = "it cannot be written; choose another one";
        }
      } catch (IOException e) {
        why = "nothing can be written into " + folder + "; choose another one (" + e + ")";
      }
    }
    if (why != null) {
      throw new ParameterException(spec.commandLine(), "--json: " + file + ": " + why);
    }
  }

  static void write(Path file, Map<String, ?> fields) throws IOException {
    Files.writeString(file, Json.of(fields) + "\n");
  }
}
