import org.jspecify.annotations.NullMarked;

/** The statistics of a database as meters of Micrometer. */
@NullMarked
@SuppressWarnings({"requires-automatic", "requires-transitive-automatic"}) // it has no descriptors
module org.revenantdb.micrometer {
  requires transitive org.revenantdb.engine;
  requires transitive micrometer.core;
  requires static org.jspecify;

  exports org.revenantdb.micrometer;
}
