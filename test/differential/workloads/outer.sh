# The shell of a person: it stays outside; what it starts runs bare or, with $RUN, inside.
exec bash --norc --noprofile -i
