BcsJ
×#=