/**
 * A file system that looks like the one below it and writes down what is done through it, and does
 * wrong what it is told to do wrong.
 *
 * <p>Reading order: {@link org.revenantdb.chaos.recording.RecordingFileSystem} (how to use it, what
 * it sees and what it cannot), {@code Recorder} (places, faults, counts), {@code RecordingChannel}
 * (bytes), {@code NameOperations} over {@code NameSpace} (names), {@code RecordingProvider} (which
 * call of the JDK goes where).
 */
package org.revenantdb.chaos.recording;
