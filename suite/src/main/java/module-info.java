import org.jspecify.annotations.NullMarked;

/**
 * RevenantDB's own crash suite, model test, fuzzer and demonstration: the verbs {@code chaos},
 * {@code model}, {@code fuzz} and {@code demo} of {@code ./revenant}.
 *
 * <p>It exports nothing, because no other module uses it.
 */
@NullMarked
module org.revenantdb.suite {
  requires org.revenantdb.chaos;
  requires org.revenantdb.engine;
  requires org.revenantdb.history;
  requires org.revenantdb.recovery;
  requires info.picocli;
  requires static org.jspecify;

  opens org.revenantdb.suite.cli to
      info.picocli;
  // The framework creates subjects from the names of their classes.
  opens org.revenantdb.suite.crash to
      org.revenantdb.chaos;
}
