package org.revenantdb.cli;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.revenantdb.engine.admin.DatabaseView;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** {@code get DIR TABLE KEY}: a value. */
@Command(
    name = "get",
    description = "Shows the value of a key.",
    mixinStandardHelpOptions = true,
    exitCodeListHeading = "Exit codes:%n",
    exitCodeList = {"0:found", "1:there is no such row", "2:wrong usage, or it cannot be read"})
final class GetCommand extends Verb {
  @Parameters(index = "1", paramLabel = "TABLE", description = "the name of the table")
  private String table = "";

  @Parameters(index = "2", paramLabel = "KEY", description = "the key")
  private String key = "";

  @Option(
      names = {"-o", "--output"},
      paramLabel = "FILE",
      description = "writes the bytes of the value to a file, of whatever size they are")
  private @Nullable Path output;

  @Mixin private Notations notations = new Notations();

  GetCommand(Session session) {
    super(session);
  }

  @Override
  public Integer call() throws Exception {
    byte[] bytes = notations.key.read(key);
    return session.read(directory, view -> get(view, bytes));
  }

  private int get(DatabaseView view, byte[] bytes) throws IOException {
    Path file = output;
    if (file != null) {
      return write(view, bytes, file);
    }
    ByteArrayOutputStream to = new ByteArrayOutputStream();
    if (!view.get(table, bytes, to)) {
      return nothing(bytes);
    }
    String value = notations.value.show(to.toByteArray());
    if (json) {
      json(Map.of("value", value));
    } else {
      line(value);
    }
    return FINE;
  }

  /** The file is made with the first bytes: a row that does not exist leaves a file alone. */
  private int write(DatabaseView view, byte[] bytes, Path file) throws IOException {
    try (LaterFile to = new LaterFile(file)) {
      if (!view.get(table, bytes, to)) {
        return nothing(bytes);
      }
      to.open();
      return FINE;
    }
  }

  private int nothing(byte[] bytes) {
    session.err().println("table " + table + " has no row " + notations.key.show(bytes));
    return NOTHING;
  }

  /** A file that is made when it is written to. */
  private static final class LaterFile extends OutputStream {
    private final Path file;
    private @Nullable OutputStream opened;

    LaterFile(Path file) {
      this.file = file;
    }

    OutputStream open() throws IOException {
      OutputStream to = opened;
      if (to == null) {
        to = Files.newOutputStream(file);
        opened = to;
      }
      return to;
    }

    @Override
    public void write(int one) throws IOException {
      open().write(one);
    }

    @Override
    public void write(byte[] bytes, int offset, int length) throws IOException {
      open().write(bytes, offset, length);
    }

    @Override
    public void close() throws IOException {
      OutputStream to = opened;
      if (to != null) {
        to.close();
      }
    }
  }
}
