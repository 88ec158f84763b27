import org.jspecify.annotations.NullMarked;

/**
 * RevenantDB's own crash suite, its demonstration, its model test and its fuzzer: the verbs {@code
 * chaos}, {@code demo}, {@code model} and {@code fuzz} of {@code ./revenant}.
 *
 * <p>It exports nothing, because nothing is built on it.
 */
@NullMarked
module org.revenantdb.suite {
  requires org.revenantdb.chaos;
  requires org.revenantdb.engine;
  requires org.revenantdb.recovery;
  requires info.picocli;
  requires static org.jspecify;

  opens org.revenantdb.suite.cli to
      info.picocli;
}
