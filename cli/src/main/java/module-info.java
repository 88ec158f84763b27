import org.jspecify.annotations.NullMarked;

/** The command {@code revenant}: a database at the shell. It exports nothing. */
@NullMarked
module org.revenantdb.cli {
  requires org.revenantdb.engine;
  requires org.revenantdb.collections;
  requires com.google.gson;
  requires info.picocli;
  requires org.jline.reader;
  requires org.jline.terminal;
  requires static org.jspecify;

  opens org.revenantdb.cli to
      info.picocli;
}
